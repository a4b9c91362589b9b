// The report page in a real browser: opens from disk, draws, sorts, filters, escapes, reads well.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import test, {before} from 'node:test';

import {commandOf} from '../src/records.js';
import {browserOfTests, marksOf, scrollThrough, skipWithoutBrowser} from './browser.mjs';
import {folder, foretell, manyOf, predict, reportOf, tryForetell} from './reports.mjs';

const kOnnx = path.resolve('../../../workloads/import/onnx/exported/bert.onnx');

skipWithoutBrowser();

const opened = browserOfTests();

let predictions;
let overview; // the file of a report of all of them

before(async () => {
  predictions = ['int8', 'bf16', 'fp32'].map((dtype) => predict({dtype}));
  predictions.push(predict({system: 'inf2.8xlarge'}), predict({system: 'h100-sxm'}));
  overview = reportOf('overview', predictions);
});

const rowsOf = (page, section) => page.locator(`#${section} tbody tr`);
const columnOf = (page, section, at) =>
  page.locator(`#${section} tbody tr`).evaluateAll((rows, index) => rows.map((row) => row.cells[index].textContent), at);

test('the page opens without errors and requests, and every chart has marks', async () => {
  await opened(overview, {}, async (page) => {
    await scrollThrough(page);
    const titles = await page.locator('h2').allTextContents();
    for (const title of ['Summary', 'Data types', 'Roofline', 'Where the time goes', 'Memory', 'Cost', 'Assumptions']) {
      assert.ok(titles.includes(title), title);
    }
    const charts = await marksOf(page);
    assert.ok(charts.length >= 8);
    for (const {caption, marks} of charts) assert.ok(marks > 8, `${caption}: ${marks} marks`);
    assert.match(await page.locator('#answer').textContent(), /bert-base-uncased/);
  });
});

test('a heading sorts up and down, and says so', async () => {
  await opened(overview, {}, async (page) => {
    const heading = page.locator('#summary thead button', {hasText: 'Data type'});
    await heading.click();
    const up = await columnOf(page, 'summary', 2);
    assert.deepEqual(up, [...up].sort());
    assert.equal(await page.locator('#summary th[aria-sort]').getAttribute('aria-sort'), 'ascending');
    await heading.click();
    assert.deepEqual(await columnOf(page, 'summary', 2), up.reverse());
    assert.equal(await page.locator('#summary th[aria-sort]').getAttribute('aria-sort'), 'descending');
  });
});

test('typing filters rows, and the number of rows is said', async () => {
  await opened(overview, {}, async (page) => {
    const sheet = page.locator('#assumptions .sheet').first();
    const said = () => sheet.locator('[role=status]').textContent();
    const all = Number((await said()).match(/(\d+) rows/)[1]); // more than a page of them
    await sheet.locator('input[type=search]').fill('assumed');
    const some = await sheet.locator('tbody tr').count();
    assert.ok(some > 0 && some < all);
    assert.match(await said(), new RegExp(`^${some} of ${all} rows`));
    await sheet.locator('input[type=search]').fill('no such thing');
    assert.equal(await sheet.locator('tbody tr').count(), 0);
  });
});

test('what the ids of sources stand for is said', async () => {
  await opened(overview, {}, async (page) => {
    assert.match(await page.locator('#assumptions .sheet').last().textContent(), /NVH100.*NVIDIA H100, datasheet/);
    assert.match(await page.locator('#summary td.number').first().getAttribute('title'), /80 % interval.*factors/);
  });
});

test('a row is chosen by mouse and by keyboard, and the sections below follow', async () => {
  await opened(overview, {}, async (page) => {
    await rowsOf(page, 'summary').nth(0).locator('td').nth(2).click();
    assert.match(await page.locator('#assumptions code').textContent(), /--dtype int8/);
    await rowsOf(page, 'summary').nth(2).locator('.pick').focus();
    await page.keyboard.press('Enter');
    assert.match(await page.locator('#assumptions code').textContent(), /--on inf2\.xlarge .*--dtype fp32/);
    assert.equal(await page.locator('#summary [aria-pressed=true]').count(), 1);
  });
});

test('a name with markup, quotes and slashes shows as text', async () => {
  const name = '<script>alert("a/b\'c")</script><img src=x onerror=alert(1)>';
  const record = structuredClone(predictions[0]);
  record.context.workload = name;
  record.operators[0].name = name;
  await opened(reportOf('markup', [record]), {}, async (page) => {
    await scrollThrough(page);
    assert.match(await page.locator('#answer').textContent(), /<script>alert\("a\/b'c"\)<\/script><img/);
    assert.equal(await page.locator('main img, main script').count(), 0);
  });
});

test('nothing serious for those who use a keyboard or a screen reader', async () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  for (const colorScheme of ['light', 'dark']) {
    // Apart from contrast the page is the same in both; nodes without a fault need no description.
    const rules = {resultTypes: ['violations'], ...(colorScheme === 'dark' ? {runOnly: ['color-contrast']} : {})};
    await opened(overview, {colorScheme}, async (page) => {
      await scrollThrough(page);
      await page.evaluate(axe);
      const {violations} = await page.evaluate((options) => window.axe.run(document, options), rules);
      const serious = violations.filter(({impact}) => ['serious', 'critical'].includes(impact));
      assert.deepEqual(serious.map(({id, nodes}) => `${id}: ${nodes[0].html}`), []);
    });
  }
});

test('a phone shows the page without scrolling sideways', async () => {
  await opened(overview, {width: 390, height: 800}, async (page) => {
    await scrollThrough(page);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 390);
  });
});

test('the theme changes, and the charts with it', async () => {
  await opened(overview, {}, async (page) => {
    await scrollThrough(page);
    const ink = () => page.locator('#cost svg text').first().getAttribute('fill');
    const light = await ink();
    await page.locator('#theme').click();
    assert.notEqual(await ink(), light);
  });
});

test('a study shows its front, a heat map, parallel coordinates and a tornado', async () => {
  const points = manyOf(predictions[1], 256); // a grid of 16 x 16
  points.forEach(({context}, at) => {
    context.scenario.batch = 1 + (at % 16);
    context.set = [`device.hbm.bandwidth=${(0.4 + 0.01 * Math.floor(at / 16)).toFixed(2)} TB/s`];
  });
  await opened(reportOf('study', points), {}, async (page) => {
    await scrollThrough(page);
    const captions = await page.locator('#what-if figcaption').allTextContents();
    assert.equal(captions.length, 4);
    for (const {caption, marks} of await marksOf(page)) assert.ok(marks > 8, `${caption}: ${marks} marks`);
    assert.ok(await rowsOf(page, 'what-if').count() >= 1);
    await page.locator('#what-if select').first().selectOption({label: 'USD per million'});
    assert.match(await page.locator('#what-if figcaption').first().textContent(), /usd per million/);
  });
});

test('the timeline is drawn and saved for Perfetto', async () => {
  await opened(overview, {}, async (page) => {
    await page.locator('#timeline').scrollIntoViewIfNeeded();
    await page.locator('#timeline svg path').first().waitFor({state: 'attached'});
    const download = page.waitForEvent('download');
    await page.locator('#timeline button').click();
    const {traceEvents} = JSON.parse(readFileSync(await (await download).path(), 'utf8'));
    assert.ok(traceEvents.filter(({ph}) => ph === 'X').length > 50);
  });
});

test('a validation shows a scatter and the error per class', async () => {
  const samples = Array.from({length: 50}, (_, at) => ({row: `row ${at}`, group: [at % 2 ? 'a' : 'b'], measured: 'call_ms',
    value: 1 + at, predicted: (1 + at) * 1.05, interval80: [1 + at, (1 + at) * 1.2]}));
  const row = (group) => ({group, measured: 'call_ms', n: 25, mape: 0.05, median: 0.05, p90: 0.05, bias: 0.05, ratio10: 0.9,
    ratio90: 1, coverage80: 0.8});
  const input = path.join(folder, 'validation.json');
  writeFileSync(input, JSON.stringify({schema: 'foretell.accuracy/1', by: ['class'], rows: 50, failed: 0,
    overall: [row([])], groups: [row(['a']), row(['b'])], worst: [], samples, notes: []}));
  const output = path.join(folder, 'validation.html');
  foretell('report', input, '-o', output, '-q');
  await opened(output, {}, async (page) => {
    await scrollThrough(page);
    assert.match(await page.locator('#answer').textContent(), /call \(ms\): 5 % mean error/);
    const charts = await marksOf(page);
    assert.equal(charts.length, 2);
    assert.ok(charts[0].marks > 100);
    assert.equal(await rowsOf(page, 'accuracy').count(), 3);
  });
});

test('rows of a table are bars, predicted against measured, and a table; what failed is said', async () => {
  const input = path.join(folder, 'rows.csv');
  writeFileSync(input, 'system,workload,batch,seq_len,compute_dtype,call_ms\n' +
    'inf2.xlarge,bert-base-uncased,8,128,bf16,5\ninf2.xlarge,bert-base-uncased,16,128,bf16,9.9\nnone,bert-base-uncased,1,128,bf16,\n');
  const output = path.join(folder, 'rows.html');
  assert.equal(tryForetell('predict', input, '-o', output).status, 1);
  await opened(output, {}, async (page) => {
    await scrollThrough(page);
    assert.equal(await page.locator('#answer').textContent(), '3 rows, 2 predicted, 1 not.');
    const charts = await marksOf(page);
    assert.equal(charts.length, 2);
    assert.ok(charts.every(({marks}) => marks > 2));
    assert.equal(await rowsOf(page, 'predictions').count(), 3);
    assert.match(await page.locator('#predictions thead').textContent(), /call \(ms\).*predicted call \(ms\).*80 % interval \(ms\)/);
    assert.match(await page.locator('#problems').textContent(), /line 4: unknown system 'none'/);
  });
  writeFileSync(input, 'system,workload\n');
  assert.equal(tryForetell('predict', input, '-o', output).status, 0);
  await opened(output, {}, async (page) => {
    assert.equal(await page.locator('#answer').textContent(), 'The table has no rows.');
  });
});

test('two results are a page of what changed', async () => {
  const [before, after] = [1, 1.5].map((factor) => {
    const record = structuredClone(predictions[1]);
    record.summary.latency_s *= factor;
    const file = path.join(folder, `changed${factor}.jsonl`);
    writeFileSync(file, `${JSON.stringify(record)}\n`);
    return file;
  });
  const output = path.join(folder, 'changes.html');
  assert.equal(tryForetell('report', before, after, '-o', output).status, 1);
  await opened(output, {}, async (page) => {
    assert.match(await page.locator('#changes tbody').textContent(), /latency_s.*\+50 %/);
  });
});

test('the command in the box makes the prediction again', () => {
  const asked = [
    ['--on', 'inf2.xlarge', '--workload', 'bert-base-uncased', '--batch', '2', '--seq', 'uniform:16..64', '--in-flight', '3'],
    ['--on', 'h100-sxm', '--workload', 'gpt2', '--batch', '2', '--input-len', '16', '--output-len', '4', '--launch', 'stream'],
    ['--on', 'inf2.xlarge', '--workload', 'gpt2', '--input-len', '16', '--output-len', '4', '--context', '256', '--kv', 'exact'],
    ['--on', 'trn1.2xlarge', '--workload', 'resnet18', '--batch', '2', '--phase', 'train-step', '--optimizer', 'sgd'],
    ['--on', 'h100-sxm', '--workload', kOnnx, '--dim', 'sequence=128', '--batch', '2'],
    ['--on', 'trn1.2xlarge', '--workload', 'resnet18', '--phase', 'train-step', '--exact'],
    ['--on', 'c7i.2xlarge', '--workload', 'resnet18', '--set', 'device.clock.all_core=2.8 GHz', '--factors', 'none'],
  ];
  for (const options of asked) {
    const record = JSON.parse(foretell('run', ...options, '--format', 'json'));
    const command = commandOf(record).replace(/^foretell/, '"$FORETELL_PROGRAM"');
    const again = JSON.parse(execFileSync('sh', ['-c', `${command} --format json`], {encoding: 'utf8'}));
    for (const one of [record, again]) one.context.notes = one.context.unstated = []; // what was not stated
    assert.deepEqual(again, record, command);
  }
});

test('what explain wrote is a page of what moves it', async () => {
  const input = path.join(folder, 'explained.json');
  foretell('explain', '--on', 'inf2.xlarge', '--workload', 'gpt2', '--seq', '128', '--sensitivity', '--format', 'json', '-o', input);
  const output = path.join(folder, 'explained.html');
  foretell('report', input, '-o', output, '-q');
  await opened(output, {}, async (page) => {
    await scrollThrough(page);
    assert.match(await page.locator('#title').textContent(), /gpt2 on inf2\.xlarge/);
    assert.ok(await rowsOf(page, 'sensitivity').count() > 5);
    for (const {caption, marks} of await marksOf(page)) assert.ok(marks > 8, `${caption}: ${marks} marks`);
  });
});

test('printed charts are as wide as the sheet', async () => {
  await opened(overview, {width: 1600}, async (page) => {
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    const widths = await page.locator('.chart').evaluateAll((all) => all.map((chart) => chart.clientWidth));
    assert.ok(Math.max(...widths) <= 1000, `${widths}`);
    assert.ok(await page.locator('.chart svg').count() >= 8); // also those not yet scrolled to
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    const back = await page.locator('.chart').evaluateAll((all) => all.map((chart) => chart.clientWidth));
    assert.ok(Math.max(...back) > 1000);
  });
});
