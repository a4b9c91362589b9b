import assert from 'node:assert/strict';
import test from 'node:test';

import {memory, number, percent, seconds, usd} from './format.js';
import {bestOf, commandOf, labelsOf, operatorRows, parseReport, resourceRows} from './records.js';

function record({dtype = 'bf16', system = 'inf2.xlarge', throughput = 900, scenario = {batch: 8, seq_len: 128}} = {}) {
  return {
    schema: 'foretell.run/1',
    context: {system, workload: 'bert-large-uncased', dtype, scenario, set: [], factors: 'none'},
    summary: {
      latency_s: 0.0169, throughput, throughput_unit: 'inferences/s', cost_usd_per_million: 0.2346,
      bottleneck: 'tensor engine',
    },
    operators: [],
    resources: [],
  };
}

test('the command names the file and what it leaves open', () => {
  const command = commandOf({context: {system: 's', workload: 'bert', workload_file: 'my nets/bert.onnx', dtype: 'bf16',
    scenario: {batch: 8, dimensions: {sequence: '128'}, exact: true}}});
  assert.equal(command, "foretell run --on s --workload 'my nets/bert.onnx' --dtype bf16 --batch 8 --dim sequence=128 --exact");
});

test('a rate that only the datasheet promises is not the answer, unless there is no other', () => {
  const promised = record({dtype: 'int8-datasheet', throughput: 2000});
  const slower = record({dtype: 'int8-datasheet', throughput: 1500});
  const reached = record({throughput: 900});
  assert.equal(bestOf([promised, reached]), reached);
  assert.equal(bestOf([reached, promised]), reached);
  assert.equal(bestOf([slower, promised]), promised);
});

test('the command repeats every scenario field and quotes what a shell would split', () => {
  const one = record({scenario: {batch: 8, seq_len: 128, dp: 2, in_flight: 4}});
  one.context.set = ['device.hbm.bandwidth=1 TB/s'];
  assert.equal(commandOf(one),
    'foretell run --on inf2.xlarge --workload bert-large-uncased --dtype bf16 --batch 8 --seq 128 --dp 2 ' +
    "--in-flight 4 --set 'device.hbm.bandwidth=1 TB/s' --factors none");
});

test('a quote inside an override survives the shell', () => {
  const one = record();
  one.context.set = ["system.name=o'clock"];
  assert.ok(commandOf(one).includes(`--set 'system.name=o'\\''clock'`));
});

test('a plan of a study is asked for as a plan', () => {
  const context = {system: 's', workload: 'w', dtype: 'fp8', scenario: {label: '2 x s', service: {plan: 'both', rate: '5'}}};
  assert.equal(commandOf({context}), 'foretell plan --on s --workload w --dtype fp8 --workers both --rate 5');
});

test('labels hold only what differs', () => {
  assert.deepEqual(labelsOf([record({dtype: 'fp32'}), record({dtype: 'bf16'})]), ['fp32', 'bf16']);
  assert.deepEqual(labelsOf([record(), record()]), ['bf16', 'bf16']);
  const batches = [1, 8].map((batch) => record({scenario: {batch, seq_len: 128}}));
  assert.deepEqual(labelsOf(batches), ['batch 1', 'batch 8']);
  const systems = ['a', 'b'].map((system) => record({system}));
  assert.deepEqual(labelsOf(systems, ['system']), ['bf16', 'bf16']);
});

test('layers of one operator are added up, longest first, and no time is lost', () => {
  const operators = [
    {name: 'encoder.0.attention.query', op: 'MatMul', engine: 'tensor', duration_s: 1e-5, critical: 'dma'},
    {name: 'pooler', op: 'MatMul', engine: 'tensor', duration_s: 1.5e-5, critical: 'tensor'},
    {name: 'encoder.1.attention.query', op: 'MatMul', engine: 'tensor', duration_s: 2e-5, critical: 'dma'},
  ];
  const rows = operatorRows(operators);
  assert.deepEqual(rows.map(({name}) => name), ['encoder.*.attention.query (×2)', 'pooler']);
  assert.equal(rows[0].critical, 'dma');
  const total = rows.reduce((all, {duration_s}) => all + duration_s, 0);
  assert.ok(Math.abs(total - 4.5e-5) < 1e-18);
});

test('equal resources show their mean, idle ones are left out', () => {
  const rows = resourceRows([
    {path: 'chip0.core0.tensor', busy: 0.5, stalled: 0.1, bytes: 0},
    {path: 'chip0.core1.tensor', busy: 0.3, stalled: 0.1, bytes: 0},
    {path: 'chip0.core0.gpsimd', busy: 0, stalled: 0, bytes: 0},
    {path: 'chip0.hbm', busy: 0.9, stalled: 0, bytes: 7},
  ]);
  assert.deepEqual(rows.map(({path}) => path), ['chip0.hbm', 'chip*.core*.tensor (mean of 2)']);
  assert.ok(Math.abs(rows[1].busy - 0.4) < 1e-12);
});

test('data of another schema is refused by name', () => {
  const report = (records) => JSON.stringify({schema: 'foretell.report/1', records});
  assert.throws(() => parseReport(report([{schema: 'foretell.sweep/1'}])), /foretell\.sweep\/1/);
  assert.throws(() => parseReport('{}'), /undefined/);
  assert.throws(() => parseReport('[]'), /schema/);
  assert.throws(() => parseReport('{"schema":"foretell.report/2"}'), /foretell\.report\/2/);
});

test('a record is a patch onto the first, which stays as it is', () => {
  const base = record();
  const {records} = parseReport(JSON.stringify({
    schema: 'foretell.report/1', base,
    records: [{}, {context: {dtype: 'fp32', scenario: {batch: null, seq_len: 7}}}, {operators: [{name: 'a'}]}],
  }));
  assert.deepEqual(records.map(({context}) => context.dtype), ['bf16', 'fp32', 'bf16']);
  assert.deepEqual(records[1].context.scenario, {seq_len: 7});
  assert.deepEqual(records[2].context.scenario, base.context.scenario);
  assert.deepEqual(records.map(({operators}) => operators.length), [0, 0, 1]);
});

test('what records share is given back to each of them', () => {
  const one = record();
  one.values = 1;
  one.machine = 0;
  one.context.notes = [];
  const {records} = parseReport(JSON.stringify(
    {schema: 'foretell.report/1', records: [one, one], shared: [{device: 'd'}, [{path: 'p'}]]}));
  assert.deepEqual(records[1].machine, {device: 'd'});
  assert.deepEqual(records[0].values, [{path: 'p'}]);
  assert.deepEqual(records[0].context.notes, []);
});

test('numbers keep their leading digits and choose a unit on both sides of its limit', () => {
  assert.equal(seconds(0.000999), '999 µs');
  assert.equal(seconds(0.001), '1 ms');
  assert.equal(seconds(0), '0 s');
  assert.equal(memory(1023), '1,023 B');
  assert.equal(memory(1024), '1 KiB');
  assert.equal(memory(32 * 2 ** 30), '32 GiB');
  assert.equal(number(123456.7), '123,457');
  assert.equal(number(0.012345), '0.01235');
  assert.equal(percent(0.4123), '41.2 %');
  assert.equal(usd(0.2346), '$0.235');
  assert.equal(usd(0.098), '$0.0980');
  assert.equal(usd(1234.5), '$1,235');
  for (const format of [seconds, memory, number, percent, usd]) {
    for (const missing of [null, undefined, NaN, Infinity, '1']) assert.equal(format(missing), '–');
  }
});
