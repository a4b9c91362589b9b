// Bundles src/ into one HTML file without references to anything outside it.
// usage: node build.mjs NAME OUT.html OUT.cpp   (NAME: report or explore; the .cpp holds the .html as a
// string literal)
import {readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const source = path.join(path.dirname(fileURLToPath(import.meta.url)), 'src');
const kPages = {
  report: {frame: 'page.html', script: 'main.js', style: 'page.css'},
  explore: {frame: 'explore.html', script: 'explore.js', style: 'explore.css'},
};
const [name, htmlFile, cppFile] = process.argv.slice(2);
if (!kPages[name] || !htmlFile || !cppFile) throw new Error('usage: node build.mjs report|explore OUT.html OUT.cpp');

const bundle = async (entry) => {
  const result = await build({
    entryPoints: [path.join(source, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2020',
    charset: 'utf8',
    legalComments: 'inline',
    logLevel: 'warning',
  });
  return result.outputFiles[0].text.trim();
};

const parts = {
  style: await bundle(kPages[name].style),
  script: await bundle(kPages[name].script),
};
if (/<\/(script|style)/i.test(parts.script + parts.style)) {
  throw new Error('the bundle would end its own element');
}
const frame = await readFile(path.join(source, kPages[name].frame), 'utf8');
const html = frame.replace(/{{(\w+)}}/g, (_, part) => parts[part]);
await writeFile(htmlFile, html);

const delimiter = 'foretell_page';
if (html.includes(`)${delimiter}"`)) throw new Error('the page contains the literal\'s delimiter');
await writeFile(cppFile, `// Written by reports/render/page/build.mjs at build time.
#include "reports/render/page/report_page.hpp"

namespace foretell {

std::string_view ${name}_page() {
  return R"${delimiter}(${html})${delimiter}";
}

}  // namespace foretell
`);
