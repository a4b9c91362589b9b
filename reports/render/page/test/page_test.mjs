// The report page in a real browser: opens from disk, draws, sorts, filters, escapes, reads well.
import assert from 'node:assert/strict';
import {readFileSync, statSync} from 'node:fs';
import {createRequire} from 'node:module';
import test, {after, before} from 'node:test';

import {chromiumPath, marksOf, openReport, scrollThrough, startBrowser} from './browser.mjs';
import {manyOf, predict, reportOf} from './reports.mjs';

const kMostBytes = 10e6;
const kMostSeconds = 3;

if (!chromiumPath || !process.env.FORETELL_PROGRAM) {
  console.log('skipped, no Chromium or no program');
  process.exit(0);
}

let browser;
let predictions;
let overview; // the file of a report of all of them

before(async () => {
  browser = await startBrowser();
  predictions = ['int8', 'bf16', 'fp32'].map((dtype) => predict({dtype}));
  predictions.push(predict({system: 'inf2.8xlarge'}), predict({system: 'h100-sxm'}));
  overview = reportOf('overview', predictions);
});

after(() => browser?.close());

async function opened(file, options, work) {
  const report = await openReport(browser, file, options);
  try {
    await work(report.page);
    assert.deepEqual(report.faults, []);
  } finally {
    await report.close();
  }
}

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
    assert.match(await page.locator('#answer').textContent(), /bert-base-uncased .* on h100-sxm/);
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
    const all = await rowsOf(page, 'assumptions').count();
    await page.locator('#assumptions input[type=search]').fill('assumed');
    const some = await rowsOf(page, 'assumptions').count();
    assert.ok(some > 0 && some < all);
    assert.match(await page.locator('#assumptions [role=status]').textContent(), new RegExp(`^${some} of ${all} rows`));
    await page.locator('#assumptions input[type=search]').fill('no such thing');
    assert.equal(await rowsOf(page, 'assumptions').count(), 0);
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
    await opened(overview, {colorScheme}, async (page) => {
      await scrollThrough(page);
      await page.evaluate(axe);
      const {violations} = await page.evaluate(() => window.axe.run());
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

test('ten thousand predictions make a file below 10 MB that opens in three seconds', async () => {
  const file = reportOf('many', manyOf(predictions[1], 10000));
  assert.ok(statSync(file).size < kMostBytes, `${statSync(file).size} bytes`);
  await opened(file, {}, async (page) => {
    const secondsToOpen = () => page.evaluate(() => performance.getEntriesByType('navigation')[0].domComplete / 1000);
    let seconds = await secondsToOpen();
    if (seconds >= kMostSeconds) { // others may have kept the machine busy: once more
      await page.reload();
      seconds = await secondsToOpen();
    }
    assert.ok(seconds < kMostSeconds, `${seconds} s`);
    assert.match(await page.locator('#summary [role=status]').textContent(), /^10,000 rows/);
    assert.ok(await rowsOf(page, 'summary').count() <= 100);
    await page.locator('#summary .pager button', {hasText: 'Next'}).click();
    assert.match(await page.locator('#summary .pager').textContent(), /page 2 of 100/);
    await page.locator('#summary input[type=search]').fill('bandwidth=0.55');
    assert.match(await page.locator('#summary [role=status]').textContent(), /^64 of 10,000 rows/);
  });
});
