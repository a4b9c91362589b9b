// A page in Debian's Chromium, with everything that a report must not do recorded.
import assert from 'node:assert/strict';
import {existsSync} from 'node:fs';
import {after, before} from 'node:test';
import {pathToFileURL} from 'node:url';

const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

// Without a browser and a program there is nothing to test.
export function skipWithoutBrowser() {
  if (chromiumPath && process.env.FORETELL_PROGRAM) return;
  console.log('skipped, no Chromium or no program');
  process.exit(0);
}

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

// Does `work` with the page of a report, which must not have had a fault by then.
async function withReport(browser, file, options, work) {
  const report = await openReport(browser, file, options);
  try {
    await work(report.page);
    assert.deepEqual(report.faults, []);
  } finally {
    await report.close();
  }
}

// A browser for the tests of a file: what opens a report in it.
export function browserOfTests() {
  let browser;
  before(async () => {
    browser = await startBrowser();
  });
  after(() => browser?.close());
  return (file, options, work) => withReport(browser, file, options, work);
}

// Charts are drawn when they come near the window. A browser that draws nothing for a while, on a busy
// machine, is not waited for.
export async function scrollThrough(page) {
  const height = await page.evaluate(() => document.body.scrollHeight);
  for (let y = 0; y < height; y += 600) {
    await page.evaluate((top) => scrollTo(0, top), y);
    await page.evaluate(() => new Promise((done) => {
      requestAnimationFrame(() => requestAnimationFrame(done));
      setTimeout(done, 2000);
    }));
  }
  await page.evaluate(() => scrollTo(0, 0));
}

// Per chart: its caption and how many shapes it has.
export const marksOf = (page) => page.evaluate(() =>
  [...document.querySelectorAll('figure')].map((figure) => ({
    caption: figure.querySelector('figcaption').textContent,
    marks: figure.querySelectorAll('svg path, svg text').length + 100 * figure.querySelectorAll('canvas').length,
  })));
