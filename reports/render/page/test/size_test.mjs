// A page of very many predictions is small and opens soon, on a machine that does nothing else.
import assert from 'node:assert/strict';
import {statSync} from 'node:fs';
import test from 'node:test';

import {browserOfTests, skipWithoutBrowser} from './browser.mjs';
import {manyOf, predict, reportOf} from './reports.mjs';

const kMaxBytes = 10e6;
const kMaxSeconds = 3;

skipWithoutBrowser();

const opened = browserOfTests();

test('ten thousand predictions make a file below 10 MB that opens in three seconds', async () => {
  const file = reportOf('many', manyOf(predict(), 10000));
  assert.ok(statSync(file).size < kMaxBytes, `${statSync(file).size} bytes`);
  await opened(file, {}, async (page) => {
    const secondsToOpen = () => page.evaluate(() => performance.getEntriesByType('navigation')[0].domComplete / 1000);
    let seconds = await secondsToOpen();
    if (seconds >= kMaxSeconds) { // others may have kept the machine busy: once more
      await page.reload();
      seconds = await secondsToOpen();
    }
    assert.ok(seconds < kMaxSeconds, `${seconds} s`);
    assert.match(await page.locator('#summary [role=status]').textContent(), /^10,000 rows/);
    assert.ok(await page.locator('#summary tbody tr').count() <= 50);
    await page.locator('#summary .pager button', {hasText: 'Next'}).click();
    assert.match(await page.locator('#summary .pager').textContent(), /page 2 of 200/);
    await page.locator('#summary input[type=search]').fill('bandwidth=0.55');
    assert.match(await page.locator('#summary [role=status]').textContent(), /^64 of 10,000 rows/);
  });
});
