// Reports for the browser tests, made by the program itself.
import {execFileSync, spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';

const program = process.env.FORETELL_PROGRAM;

export const folder = program ? mkdtempSync(path.join(tmpdir(), 'report_page_')) : '';
process.on('exit', () => {
  if (folder) rmSync(folder, {recursive: true, force: true});
});

export const foretell = (...words) => execFileSync(program, words, {encoding: 'utf8', maxBuffer: 1 << 30});
export const tryForetell = (...words) => spawnSync(program, words, {encoding: 'utf8'});

export function predict({system = 'inf2.xlarge', dtype = 'bf16', more = []} = {}) {
  return JSON.parse(foretell('run', '--on', system, '--workload', 'bert-base-uncased', '--batch', '8', '--seq', '128',
    '--dtype', dtype, '--format', 'json', ...more));
}

export function reportOf(name, records, ...options) {
  const input = path.join(folder, `${name}.jsonl`);
  const output = path.join(folder, `${name}.html`);
  writeFileSync(input, records.map((record) => JSON.stringify(record)).join('\n') + (records.length ? '\n' : ''));
  foretell('report', input, '-o', output, '-q', ...options);
  return output;
}

// As many records as asked for that differ in their batch and bandwidth, from one prediction; the
// first hundred with their operators.
export function manyOf(record, count) {
  const brief = {...record, operators: [], resources: []};
  return Array.from({length: count}, (_, at) => {
    const copy = structuredClone(at < 100 ? record : brief);
    const factor = 1 + (at % 97) / 50;
    copy.context.scenario.batch = 1 + (at % 64);
    copy.context.set = [`device.hbm.bandwidth=${(0.4 + 0.01 * Math.floor(at / 64)).toFixed(2)} TB/s`];
    copy.summary.throughput *= factor;
    copy.summary.latency_s /= factor;
    copy.summary.call_s /= factor;
    copy.summary.interval80 = Object.fromEntries(Object.entries(copy.summary.interval80).map(([field, [low, high]]) =>
      [field, field === 'throughput' ? [low * factor, high * factor] : [low / factor, high / factor]]));
    for (const option of Object.keys(copy.summary.costs_usd_per_million)) {
      copy.summary.costs_usd_per_million[option] /= factor;
    }
    if (copy.summary.cost_usd_per_million != null) copy.summary.cost_usd_per_million /= factor;
    return copy;
  });
}
