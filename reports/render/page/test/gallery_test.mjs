// The reports of the gallery, written anew: their pages in a browser, and their texts against those that are kept.
import assert from 'node:assert/strict';
import {existsSync, readFileSync, readdirSync} from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import {browserOfTests, marksOf, scrollThrough, skipWithoutBrowser} from './browser.mjs';
import {folder, tryForetell} from './reports.mjs';

const kGalleryTolerance = 0.05; // of numbers in the reports that are kept

skipWithoutBrowser();

const opened = browserOfTests();

// Words as they are, numbers within a share of each other; "" or what differs first.
function firstDifference(kept, fresh, tolerance) {
  const parts = (text) => text.split(/(\d[\d,]*(?:\.\d+)?)/);
  const [left, right] = [parts(kept), parts(fresh)];
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const [a, b] = [left[at] ?? '', right[at] ?? ''];
    if (a === b) continue;
    const [x, y] = [a, b].map((text) => Number(text.replaceAll(',', '')));
    const near = at % 2 === 1 && Math.abs(x - y) <= tolerance * Math.max(Math.abs(x), Math.abs(y));
    if (!near) return `kept: ${left.slice(Math.max(0, at - 4), at + 5).join('')} | now: ${right.slice(Math.max(0, at - 4), at + 5).join('')}`;
  }
  return '';
}

test('every page of the gallery opens, and the index leads to it', async () => {
  const gallery = path.resolve('../../gallery');
  const out = path.join(folder, 'gallery');
  assert.equal(tryForetell('report', '--batch', gallery, '-o', out, '-q').status, 0);
  const scenarios = readdirSync(gallery).filter((name) => name.endsWith('.yaml'));
  for (const name of scenarios) { // the reports that are kept say what the program says
    const [kept, fresh] = [gallery, out].map((where) => readFileSync(path.join(where, name.replace('.yaml', '.md')), 'utf8'));
    assert.equal(firstDifference(kept, fresh, kGalleryTolerance), '',
      `${name}: foretell report --batch reports/gallery -o reports/gallery writes them anew`);
  }
  await opened(path.join(out, 'index.html'), {}, async (page) => {
    const links = await page.locator('#reports tbody a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    assert.equal(links.length, scenarios.length);
    for (const link of links) assert.ok(existsSync(path.join(out, link)), link);
  });
  for (const name of scenarios) {
    await opened(path.join(out, name.replace('.yaml', '.html')), {}, async (page) => {
      await scrollThrough(page);
      for (const {caption, marks} of await marksOf(page)) { // one bar may be all that there is to show by kind
        assert.ok(marks > (caption.includes('by kind of work') ? 3 : 8), `${name}, ${caption}: ${marks} marks`);
      }
      assert.equal(await page.locator('#problem').isVisible(), false);
    });
  }
});
