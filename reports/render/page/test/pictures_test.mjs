// Sections of a page of made-up records against the pictures that are kept of them.
//
// FORETELL_UPDATE_PICTURES=1 writes the pictures anew; look at them before they are kept.
import assert from 'node:assert/strict';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {after, before} from 'node:test';

import {openReport, scrollThrough, skipWithoutBrowser, startBrowser} from './browser.mjs';
import {fixture} from './fixture.mjs';
import {reportOf} from './reports.mjs';

const kFolder = path.resolve('test/pictures');
const kMaxDifferent = 0.02; // share of the pixels, which the edges of letters need between browsers
const kVisible = 40; // of 255: what a pixel may differ by in a colour
const kFont = 'DejaVu Sans';

skipWithoutBrowser();

let browser;
let file;

before(async () => {
  browser = await startBrowser();
  file = reportOf('pictures', fixture, '--title', 'Made-up machines');
});

after(() => browser?.close());

// At half the size, which is what is kept.
const halved = async (page, picture) => Buffer.from(await page.evaluate(async (data) => {
  const image = new Image();
  image.src = `data:image/png;base64,${data}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [Math.round(image.width / 2), Math.round(image.height / 2)];
  const context = canvas.getContext('2d');
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL('image/png').split(',')[1];
}, picture.toString('base64')), 'base64');

// The share of pixels that differ; 1 when the sizes do by more than a few lines.
const shareThatDiffers = (page, pictures) => page.evaluate(async ([pair, visible]) => {
  const [a, b] = await Promise.all(pair.map(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    return image;
  }));
  if (a.width !== b.width || Math.abs(a.height - b.height) > 4) return 1;
  const pixels = [a, b].map((image) => {
    const context = new OffscreenCanvas(a.width, Math.min(a.height, b.height)).getContext('2d');
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, context.canvas.width, context.canvas.height).data;
  });
  let different = 0;
  for (let at = 0; at < pixels[0].length; at += 4) {
    if ([0, 1, 2].some((colour) => Math.abs(pixels[0][at + colour] - pixels[1][at + colour]) > visible)) different += 1;
  }
  return different / (pixels[0].length / 4);
}, [pictures.map((picture) => picture.toString('base64')), kVisible]);

// What is drawn in a font that is not there has another width than in the one that is asked for.
const hasFont = (page) => page.evaluate((font) => {
  const context = document.createElement('canvas').getContext('2d');
  const widthIn = (name) => {
    context.font = `40px ${name}`;
    return context.measureText('Mmil1 wide').width;
  };
  return widthIn(`"${font}", monospace`) !== widthIn('monospace') && widthIn(`"${font}", serif`) !== widthIn('serif');
}, kFont);

// A machine with two processors that also runs other tests draws slowly.
const kPatience = 180_000;  // ms

const kPictures = [
  {name: 'light', sections: ['header', '#data-types', '#cost', '#memory', '#what-if', '#roofline', '#time', '#timeline']},
  {name: 'dark', colorScheme: 'dark', sections: ['#data-types']},
  {name: 'phone', width: 390, sections: ['header', '#data-types', '#timeline']},
];

for (const {name, sections, ...options} of kPictures) {
  test(`the page looks as it did: ${name}`, async (context) => {
    const {page, close} = await openReport(browser, file, {width: 1000, ...options});
    try {
      if (!await hasFont(page)) return context.skip(`no font ${kFont}: install fonts-dejavu-core`);
      await page.addStyleTag({content: `* {font-family: "${kFont}" !important} nav {position: static !important}`});
      await scrollThrough(page);
      const moved = [];
      for (const section of sections) {
        const picture = await halved(page, await page.locator(section).first().screenshot({animations: 'disabled', timeout: kPatience}));
        const kept = path.join(kFolder, `${name}-${section.replace('#', '')}.png`);
        if (process.env.FORETELL_UPDATE_PICTURES) {
          mkdirSync(kFolder, {recursive: true});
          writeFileSync(kept, picture);
          continue;
        }
        assert.ok(existsSync(kept), `${kept}: FORETELL_UPDATE_PICTURES=1 writes it`);
        const share = await shareThatDiffers(page, [readFileSync(kept), picture]);
        if (share > kMaxDifferent) moved.push(`${section}: ${(100 * share).toFixed(1)} % of the pixels`);
      }
      assert.deepEqual(moved, []);
    } finally {
      await close();
    }
  });
}
