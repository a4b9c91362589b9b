// The page of `foretell explore` in a real browser, with the program that serves it.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import test, {after, before} from 'node:test';

import {skipWithoutBrowser, startBrowser} from './browser.mjs';

skipWithoutBrowser();

const kPatience = 60_000;

let browser;
let server;
let url;

before(async () => {
  server = spawn(process.env.FORETELL_PROGRAM,
    ['explore', '--on', 'inf2.xlarge', '--workload', 'bert-base-uncased', '--dtype', 'bf16']);
  url = await new Promise((resolve, reject) => {
    server.stdout.once('data', (text) => resolve(String(text).trim()));
    server.once('exit', (code) => reject(new Error(`explore ended with ${code}`)));
  });
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  server?.kill('SIGINT');
});

async function opened(work, {width = 1280, colorScheme = 'light', faults = []} = {}) {
  const context = await browser.newContext({
    viewport: {width, height: 900}, colorScheme, acceptDownloads: true, permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(kPatience);
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(url)) faults.push(`request: ${request.url()}`);
  });
  try {
    await page.goto(url);
    await answered(page, 1);
    await work(page);
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
}

const answered = (page, times) =>
  page.waitForFunction((least) => Number(document.body.dataset.answers ?? 0) >= least, times, {timeout: kPatience});
const figureOf = (page, name) => page.locator('#figures div', {has: page.locator('dt', {hasText: new RegExp(`^${name}$`)})}).locator('dd').first().textContent();

test('it predicts, draws the sections of reports and asks no other server', async () => {
  await opened(async (page) => {
    assert.match(await figureOf(page, 'Latency'), /ms|µs/);
    assert.ok(await figureOf(page, 'What bounds it'));
    const titles = await page.locator('h2').allTextContents();
    for (const title of ['Summary', 'Where the time goes', 'Timeline', 'Roofline']) assert.ok(titles.includes(title), `${title}: ${titles}`);
    assert.match(await page.locator('#command').textContent(), /^foretell run --on inf2.xlarge --workload bert-base-uncased --dtype bf16 --batch 8 --seq 128$/);
  });
});

test('a slider moves a parameter from its published value, by the keyboard alone', async () => {
  await opened(async (page) => {
    const first = page.locator('.slider input').first();
    await first.waitFor();
    const before = await page.locator('#figures').textContent();
    const answers = Number(await page.evaluate(() => document.body.dataset.answers));
    assert.match(await first.getAttribute('aria-valuetext'), /as published/);
    await first.focus();
    for (let i = 0; i < 8; i += 1) await page.keyboard.press('ArrowLeft');
    await page.waitForFunction((count) => Number(document.body.dataset.answers) > count, answers, {timeout: kPatience});
    await page.waitForFunction(() => /--set/.test(document.getElementById('command').textContent));
    assert.match(await first.getAttribute('aria-valuetext'), /published: /);
    await page.waitForFunction((text) => document.getElementById('figures').textContent !== text, before);
    await page.getByRole('button', {name: 'All as published'}).press('Enter');
    await page.waitForFunction((text) => document.getElementById('figures').textContent === text, before);
  });
});

test('mistakes are said in the words of the command line, and the page goes on', async () => {
  await opened(async (page) => {
    await page.getByLabel('Batch').fill('none');
    await page.locator('#problem').waitFor();
    assert.match(await page.locator('#problem').textContent(), /batch/);
    await page.getByLabel('Batch').fill('4');
    await page.waitForFunction(() => document.getElementById('problem').hidden);
    assert.match(await page.locator('#command').textContent(), /--batch 4/);
  });
});

test('up to four scenarios are pinned, and saved as a report, a study and a command', async () => {
  await opened(async (page) => {
    for (let pinned = 1; pinned <= 4; pinned += 1) {
      await page.getByRole('button', {name: 'Pin to compare'}).click();
      await page.getByLabel('Batch').fill(String(pinned));
      await answered(page, pinned + 1);
    }
    await page.getByRole('button', {name: '4 are pinned'}).waitFor();
    assert.equal(await page.locator('#summary tbody tr').count(), 5);
    const [report] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', {name: 'Save as report'}).click()]);
    assert.equal(report.suggestedFilename(), 'foretell-report.html');
    const [study] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', {name: 'Save as study'}).click()]);
    assert.equal(study.suggestedFilename(), 'explored.yaml');
    await page.getByRole('button', {name: 'Copy command line'}).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await page.locator('#command').textContent());
  });
});

test('generations and services are asked for, too', async () => {
  await opened(async (page) => {
    await page.getByLabel('Network').fill('gpt2');
    await page.getByLabel('Network').press('Enter');
    await page.getByLabel('Ask about').selectOption({label: 'A generation'});
    await page.getByLabel('Input, tokens').fill('128');
    await page.getByLabel('Output, tokens').fill('8');
    await page.locator('#figures dt', {hasText: 'Per token'}).waitFor();
    assert.match(await page.locator('#command').textContent(), /foretell run .*--input-len 128 --output-len 8/);
    await page.getByLabel('System').fill('h100-sxm');
    await page.getByLabel('System').press('Enter');
    await page.getByLabel('Ask about').selectOption({label: 'A service'});
    await page.locator('#figures dt', {hasText: 'Whole request'}).waitFor();
    assert.match(await page.locator('#command').textContent(), /foretell serve .*--concurrency 32/);
  });
});

test('nothing is wider than a phone, in the dark, and no text is lost in its ground', async () => {
  await opened(async (page) => {
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} px too wide`);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(18, 22, 28)');
    const unnamed = await page.evaluate(() => [...document.querySelectorAll('input, select, button')]
      .filter((control) => !control.labels?.length && !control.textContent.trim() && !control.ariaLabel).map((control) => control.outerHTML));
    assert.deepEqual(unnamed, []);
  }, {width: 400, colorScheme: 'dark'});
});

test('an answer that is outdated is taken back', async () => {
  const faults = [];
  await opened(async (page) => {
    const batch = page.getByLabel('Batch');
    for (let value = 10; value < 30; value += 1) await batch.fill(String(value));
    await page.waitForFunction(() => /--batch 29/.test(document.getElementById('command').textContent));
    await page.waitForFunction(() => /Predicted in/.test(document.getElementById('status').textContent));
    assert.equal(await page.locator('#problem').isHidden(), true);
  }, {faults});
});
