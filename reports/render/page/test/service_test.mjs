// Pages of services in a real browser: what `foretell serve --report` and `foretell report` make of them.
import assert from 'node:assert/strict';
import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import test, {before} from 'node:test';

import {browserOfTests, marksOf, scrollThrough, skipWithoutBrowser} from './browser.mjs';
import {folder, foretell} from './reports.mjs';

skipWithoutBrowser();

const opened = browserOfTests();

const kServe = ['serve', '--on', 'h100-sxm', '--workload', 'Llama-3.1-8B', '--input-len', '256', '--output-len', '64', '--requests', '60',
  '--slo', 'ttft.p99<=1s,tpot.p99<=12ms', '-q'];

let loads; // three rates
let one;

before(async () => {
  loads = path.join(folder, 'loads.html');
  foretell(...kServe, '--rate', '2,8,32', '--report', loads, '--format', 'json', '-o', path.join(folder, 'loads.jsonl'));
  foretell(...kServe, '--rate', '8', '--format', 'json', '-o', path.join(folder, 'one.json'));
  one = path.join(folder, 'one.html');
  foretell('report', path.join(folder, 'one.json'), '-o', one, '-q');
});

const kTitles = ['Services', 'How long requests take', 'The service over time'];

test('loads are a curve with a band, distributions with the promise, and a time line', async () => {
  await opened(loads, {}, async (page) => {
    await scrollThrough(page);
    assert.deepEqual(await page.locator('h2').allTextContents(), [kTitles[0], 'Throughput against latency', ...kTitles.slice(1)]);
    const charts = await marksOf(page);
    assert.equal(charts.length, 7);
    for (const {caption, marks} of charts) assert.ok(marks > 8, `${caption}: ${marks} marks`);
    assert.equal(await page.locator('#service tbody tr').count(), 3);
    assert.match(await page.locator('#distribution svg').nth(1).textContent(), /promise: 99 % within 12 ms/);
    assert.match(await page.locator('#answer').textContent(), /loads? .*keep/i);
  });
});

test('charts say in words what they show', async () => {
  await opened(loads, {}, async (page) => {
    const words = await page.locator('[role=img]').evaluateAll((all) => all.map((chart) => chart.getAttribute('aria-label')));
    assert.match(words[0], /all loads: time per token, mean from .* ms at .* to .* ms at .* output tokens\/s/);
    assert.match(words[2], /Per token\. 2 requests\/s: half within .* which .* % of the requests of 2 requests\/s keep/);
    assert.match(words[4], /running: .* on average, at most .* at .* s; waiting/);
  });
});

test('choices work from the keyboard and draw the charts anew', async () => {
  await opened(loads, {}, async (page) => {
    await page.locator('#load-curve').scrollIntoViewIfNeeded();
    const caption = () => page.locator('#load-curve figcaption').textContent();
    const shown = await caption();
    await page.locator('#load-curve select').first().focus();
    await page.keyboard.press('ArrowDown');
    assert.notEqual(await caption(), shown);
    const running = () => page.locator('#service-time [role=img]').first().getAttribute('aria-label');
    const [first, text] = [await running(), await page.locator('#service-time p').first().textContent()];
    await page.locator('#service-time select').selectOption({label: '32 requests/s'});
    assert.notEqual(await running(), first);
    assert.notEqual(await page.locator('#service-time p').first().textContent(), text);
  });
});

test('one service is a page without a curve', async () => {
  await opened(one, {}, async (page) => {
    await scrollThrough(page);
    assert.deepEqual(await page.locator('h2').allTextContents(), kTitles);
    assert.match(await page.locator('#answer').textContent(), /Llama-3\.1-8B on h100-sxm under 8 requests\/s/);
    assert.match(await page.locator('#details').textContent(), /promise .* is (kept|broken)/);
  });
});

test('a phone shows services without scrolling sideways, in light and dark', async () => {
  for (const colorScheme of ['light', 'dark']) {
    await opened(loads, {width: 400, height: 800, colorScheme}, async (page) => {
      await scrollThrough(page);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 400);
    });
  }
});

test('nothing serious for those who use a keyboard or a screen reader', async () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  for (const colorScheme of ['light', 'dark']) {
    await opened(loads, {colorScheme}, async (page) => {
      await scrollThrough(page);
      await page.evaluate(axe);
      const {violations} = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
      const serious = violations.filter(({impact}) => ['serious', 'critical'].includes(impact));
      assert.deepEqual(serious.map(({id, nodes}) => `${id}: ${nodes[0].html}`), []);
    });
  }
});

test('names with markup show as text, and a service of an earlier version is drawn without distributions', async () => {
  const record = JSON.parse(readFileSync(path.join(folder, 'one.json'), 'utf8'));
  record.context.workload = '<img src=x onerror=alert(1)>';
  delete record.distributions;
  delete record.summary.promises;
  const [input, output] = ['old.json', 'old.html'].map((name) => path.join(folder, name));
  writeFileSync(input, `${JSON.stringify(record)}\n`);
  foretell('report', input, '-o', output, '-q');
  await opened(output, {}, async (page) => {
    await scrollThrough(page);
    assert.match(await page.locator('#answer').textContent(), /<img src=x/);
    assert.equal(await page.locator('main img').count(), 0);
    assert.deepEqual(await page.locator('h2').allTextContents(), [kTitles[0], kTitles[2]]);
  });
});

test('a study over loads has the curve too, and the command that serves a point again', async () => {
  const study = path.join(folder, 'loads.yaml');
  writeFileSync(study, 'study: loads\nbase: {on: h100-sxm, workload: Llama-3.1-8B, dtype: bf16, input_len: 128, output_len: 16, requests: 40,\n  slo: "ttft.p99<=50ms,tpot.p99<=20ms"}\n' +
    'vary:\n  max_batch: [4, 64]\n  rate: [1, 2, 4, 8, 32]\nobjectives: [throughput, tpot_p99]\n');
  const output = path.join(folder, 'study.html');
  foretell('report', study, '-o', output, '-q', '--jobs', '2');
  await opened(output, {}, async (page) => {
    await scrollThrough(page);
    const words = await page.locator('#load-curve [role=img]').getAttribute('aria-label');
    assert.match(words, /max batch 4: time per token, mean from .*; max batch 64: time per token, mean from/);
    assert.equal(await page.locator('#load-curve tbody tr').count(), 10);
    const drawn = () => page.locator('#distribution [role=img]').first().getAttribute('aria-label');
    const few = await drawn();
    assert.match(few, /First token\. max batch 4 · 1 requests\/s: half within .* which .* % of the requests of max batch 4 · 32 requests\/s keep/);
    assert.equal(await page.locator('#distribution [role=img]').count(), 3);
    assert.match(await page.locator('#distribution svg').nth(1).textContent(), /promise: 99 % within 20 ms/);
    await page.locator('#distribution select').first().focus();
    await page.keyboard.press('ArrowDown');
    assert.match(await drawn(), /max batch 64 · 8 requests\/s/);
    assert.equal(await page.locator('#distribution tbody tr').count(), 15);
    assert.equal(await page.locator('#what-if figcaption').count(), 4);
    const command = await page.locator('#assumptions code').textContent();
    assert.match(command, /^foretell serve .*--rate \d+/);
    const again = JSON.parse(foretell(...command.replace(/^foretell /, '').replaceAll("'", '').split(' '), '--format', 'json'));
    assert.ok(again.summary.output_tokens_per_s > 0);
  });
});
