// A page in Debian's Chromium, with everything that a report must not do recorded.
import {existsSync} from 'node:fs';
import {pathToFileURL} from 'node:url';

export const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

export async function startBrowser() {
  const {chromium} = await import('playwright-core');
  return chromium.launch({executablePath: chromiumPath, args: ['--no-sandbox', '--font-render-hinting=none']});
}

// {page, faults, close}: faults are console errors, uncaught errors and requests for anything else.
export async function openReport(browser, file, {width = 1280, height = 900, colorScheme = 'light'} = {}) {
  const context = await browser.newContext({viewport: {width, height}, colorScheme, acceptDownloads: true});
  const page = await context.newPage();
  const url = pathToFileURL(file).href;
  const faults = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (!/^(blob|data):/.test(request.url()) && request.url() !== url) faults.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  return {page, faults, close: () => context.close()};
}

// Charts are drawn when they come near the window.
export async function scrollThrough(page) {
  const height = await page.evaluate(() => document.body.scrollHeight);
  for (let y = 0; y < height; y += 600) {
    await page.evaluate((top) => scrollTo(0, top), y);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }
  await page.evaluate(() => scrollTo(0, 0));
}

// Per chart: its caption and how many shapes it has.
export const marksOf = (page) => page.evaluate(() =>
  [...document.querySelectorAll('figure')].map((figure) => ({
    caption: figure.querySelector('figcaption').textContent,
    marks: figure.querySelectorAll('svg path, svg text').length + 100 * figure.querySelectorAll('canvas').length,
  })));
