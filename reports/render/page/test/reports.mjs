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
// first hundred with their operators, the others as a study keeps them.
export function manyOf(record, count) {
  const brief = {...record, operators: [], resources: [], values: []};
  const scaled = (numbers, factor) =>
    Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, value == null ? value : value / factor]));
  return Array.from({length: count}, (_, at) => {
    const {context, summary, ...rest} = at < 100 ? record : brief;
    const factor = 1 + (at % 97) / 50;
    const {latency_s, call_s, cost_usd_per_million} = summary;
    return {
      ...rest,
      context: {...context, scenario: {...context.scenario, batch: 1 + (at % 64)},
        set: [`device.hbm.bandwidth=${(0.4 + 0.01 * Math.floor(at / 64)).toFixed(2)} TB/s`]},
      summary: {
        ...summary,
        ...scaled({latency_s, call_s, cost_usd_per_million}, factor),
        throughput: summary.throughput * factor,
        interval80: Object.fromEntries(Object.entries(summary.interval80).map(([field, [low, high]]) =>
          [field, field === 'throughput' ? [low * factor, high * factor] : [low / factor, high / factor]])),
        costs_usd_per_million: scaled(summary.costs_usd_per_million, factor),
      },
    };
  });
}
