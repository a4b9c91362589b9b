// Options and rows of the sections, without a document.
import assert from 'node:assert/strict';
import test from 'node:test';

import {accuracyAnswer, scatterOption} from './sections/accuracy.js';
import {sourcesOf} from './sections/assumptions.js';
import {hourly} from './sections/cost.js';
import {dtypesOf, rowsOf} from './sections/data_types.js';
import {calibration, energyOption, joulesByKind, joulesOf, kindsOf, kindsOption, latencyOption} from './sections/energy.js';
import {memoryRows} from './sections/memory.js';
import {
  barsOption, columnsOf as predictionColumns, drawnQuantities, headOf, namesOf as predictionNames, predictionsAnswer,
  rowsOf as predictedRows, samplesOf,
} from './sections/predictions.js';
import {reachable, rooflinePoints} from './sections/roofline.js';
import {briefName, withWholeLegend} from './options.js';
import {changeColumns, inOneUnit, memoryText} from './sections/summary.js';
import {lanesOf, operatorsOnce, traceOf} from './sections/timeline.js';
import {axesOf, tornadoOption} from './sections/what_if.js';
import {cellText, compareBy, csvOf, filterRows} from './table.js';

const theme = {ink: '#000', muted: '#555', line: '#ccc', paper: '#fff', surface: '#eee', accent: '#00f',
  series: ['#1', '#2', '#3', '#4', '#5', '#6', '#7', '#8']};

const record = (dtype, more = {}) => ({
  context: {system: 's', workload: 'w', dtype, scenario: {}},
  summary: {throughput: 1000, latency_s: 1, memory_used_bytes: 3, memory_capacity_bytes: 10,
    memory: {weights_bytes: 2, kv_cache_bytes: 0, activations_bytes: 1, inputs_outputs_bytes: 0, runtime_bytes: 0},
    costs_usd_per_million: {on_demand: 0.5}, ...more},
});

test('data types stand from narrow to wide, whatever their order was', () => {
  const records = [record('fp32'), record('int8'), record('bf16', {throughput: 2}), record('bf16', {throughput: 3})];
  assert.deepEqual(dtypesOf(records), ['int8', 'bf16', 'fp32']);
  assert.deepEqual(rowsOf(records).map(({context, summary}) => [context.dtype, summary.throughput]),
    [['int8', 1000], ['bf16', 3], ['fp32', 1000]]);
});

test('a front is of the objectives of the study', () => {
  const metrics = ['throughput', 'latency', 'usd_per_million', 'tpot'].map((id) => ({id}));
  assert.deepEqual(axesOf(metrics, [{name: 'effort'}, {name: 'tpot'}, {name: 'usd_per_million'}]), {x: {id: 'tpot'}, y: {id: 'usd_per_million'}});
  assert.deepEqual(axesOf(metrics), {x: {id: 'latency'}, y: {id: 'throughput'}});
});

test('a name is cut at its begin', () => {
  assert.equal(briefName('encoder.3.ffn.output', 11), 'ffn.output');
  assert.equal(briefName('encoder.3.ffn.output', 40), 'encoder.3.ffn.output');
  assert.equal(briefName('encoder.3.ffn.intermediate', 6), 'inter…');
});

test('the sources of a record are named once', () => {
  const values = [{source: 'A2:3'}, {source: 'A2:9'}, {source: ''}];
  assert.deepEqual([...sourcesOf({values, machine: {compute: [{source: 'B'}], bandwidths: []}})], ['A2', 'B']);
});

test('the price per hour comes back from the cost', () => {
  assert.ok(Math.abs(hourly(record('bf16'), 'on_demand') - 1.8) < 1e-12); // 0.5 USD for 1000 s at 1000/s
  assert.equal(hourly(record('bf16'), 'reserved_1y'), null);
});

test('equal uses of memory are one row', () => {
  const rows = memoryRows([record('bf16'), record('fp8'), record('fp32', {memory_used_bytes: 4})]);
  assert.deepEqual(rows.map(({label}) => label), ['bf16 and 1 alike', 'fp32']);
});

test('the roof is the lower of rate and bandwidth; operators without traffic are marked', () => {
  assert.equal(reachable(2, 10, 100), 20);
  assert.equal(reachable(20, 10, 100), 100);
  const points = rooflinePoints([
    {name: 'a', flops: 100, bytes: 10, duration_s: 2}, {name: 'b', flops: 8, bytes: 0, duration_s: 2},
    {name: 'c', flops: 0, bytes: 10, duration_s: 1},
  ]);
  assert.deepEqual(points.map(({x, y, onChip}) => [x, y, onChip]), [[10, 50, false], [100, 4, true]]);
  assert.equal(rooflinePoints([{name: 'a', flops: 100, bytes: 10, duration_s: 1e-9}], 5)[0].y, 50);
});

const operators = [
  {name: 'a', op: 'MatMul', engine: 'tensor', start_s: 0, duration_s: 2, flops: 1, bytes: 1, critical: ''},
  {name: 'b', op: 'MatMul', engine: 'tensor', start_s: 1, duration_s: 2, flops: 1, bytes: 1, critical: ''},
  {name: 'c', op: 'Add', engine: 'vector', start_s: 0, duration_s: 1, flops: 1, bytes: 1, critical: ''},
];

test('operators of an engine that overlap are in different lanes', () => {
  const {lanes, place} = lanesOf(operators);
  assert.deepEqual(lanes.map(({engine, lane}) => `${engine}${lane}`), ['tensor0', 'tensor1', 'vector0']);
  assert.notEqual(place.get(operators[0]), place.get(operators[1]));
});

test('the saved timeline has an event per operator, in microseconds, on named tracks', () => {
  const {traceEvents} = JSON.parse(traceOf({...record('bf16'), operators}));
  const slices = traceEvents.filter(({ph}) => ph === 'X');
  assert.equal(slices.length, 3);
  assert.equal(slices[1].ts, 1e6);
  const named = new Set(traceEvents.filter(({name}) => name === 'thread_name').map(({tid}) => tid));
  assert.ok(slices.every(({tid}) => named.has(tid)));
});

test('overrides that vary are columns that sort by size', () => {
  const changed = (...set) => ({context: {set}});
  const columns = changeColumns([changed('device.hbm.bandwidth=820 GB/s', 'core.tensor.clock=2.8 GHz', 'a.b=1'),
    changed('device.hbm.bandwidth=1.6 TB/s', 'core.tensor.clock=1.4 GHz', 'a.b=1'), changed('a.b=1')]);
  assert.deepEqual(columns.map(({title}) => title), ['hbm bandwidth', 'tensor clock']);
  assert.equal(columns[0].value(changed('device.hbm.bandwidth=1.6 TB/s')), 1.6e12);
  assert.equal(columns[0].text(0, changed()), 'as shipped');
  assert.deepEqual(changeColumns([changed('a.b=1'), changed('a.b=2')]), []);
});

test('a decode step is drawn as it runs once', () => {
  const operators = [{name: 'prefill.a', duration_s: 2, flops: 8, bytes: 4}, {name: 'decode.a', duration_s: 8, flops: 8, bytes: 4}];
  const once = operatorsOnce({operators, generation: [{tokens: 1}, {tokens: 3}]});
  assert.deepEqual(once.map(({duration_s, flops, bytes}) => [duration_s, flops, bytes]), [[2, 8, 4], [2, 2, 1]]);
  assert.equal(operatorsOnce({operators}), operators);
});

test('a legend that is too long for one row gets more, and the chart room for them', () => {
  const chart = (names) => ({option: {legend: {show: true, type: 'scroll'}, grid: {top: 36}, series: names.map((name) => ({name}))}, height: 300});
  assert.equal(withWholeLegend(chart(['a', 'b']), 600).height, 300);
  const whole = withWholeLegend(chart(Array.from({length: 9}, (_, at) => `series number ${at}`)), 390);
  assert.equal(whole.option.legend.type, 'plain');
  assert.equal(whole.height - 300, whole.option.grid.top - 36);
  assert.ok(whole.height > 340);
  const many = withWholeLegend(chart(Array.from({length: 90}, (_, at) => `series number ${at}`)), 390);
  assert.equal(many.option.legend.type, 'scroll');
});

test('a scatter has one series per class and the line of agreement', () => {
  const samples = [['x', 1], ['y', 2]].map(([group, value]) =>
    ({row: group, group: [group], measured: 'ms', value, predicted: value * 1.1, interval80: [value, value * 1.2]}));
  const {option} = scatterOption(theme, 600, {samples, quantity: 'ms'});
  assert.deepEqual(option.series.map(({name}) => name), ['predicted = measured', '80 % interval', 'x', 'y']);
  assert.equal(accuracyAnswer({overall: [{measured: 'ms', n: 2, mape: 0.1, bias: 0.1}]}),
    'ms: 10 % mean error over 2 measurements, bias +10 %');
});

const columns = [{title: 'Name', value: ({name}) => name}, {title: 'Size', unit: 'B', value: ({size}) => size, text: String}];
const rows = [{name: 'b 2', size: 2}, {name: 'a, "x"', size: null}, {name: 'b 10', size: 10}];

test('rows sort by number or natural order, missing values last both ways', () => {
  const sorted = (column, down) => [...rows].sort(compareBy(column, down)).map(({name}) => name);
  assert.deepEqual(sorted(columns[1], false), ['b 2', 'b 10', 'a, "x"']);
  assert.deepEqual(sorted(columns[1], true), ['b 10', 'b 2', 'a, "x"']);
  assert.deepEqual(sorted(columns[0], false), ['a, "x"', 'b 2', 'b 10']);
});

test('a filter wants every word, in any column', () => {
  assert.deepEqual(filterRows(rows, columns, 'b 10').map(({name}) => name), ['b 10']);
  assert.equal(filterRows(rows, columns, '  ').length, 3);
});

test('CSV quotes what has to be quoted and states units', () => {
  assert.equal(csvOf(rows.slice(0, 2), columns), 'Name,Size (B)\nb 2,2\n"a, ""x""",\n');
});

test('a tornado says which end is better', () => {
  const rows = [{name: 'clock', base: '1 GHz', low: {value: '2 GHz', share: -0.2}, high: {value: '0.5 GHz', share: 0.3}}];
  const names = (best) => tornadoOption({series: ['a', 'b']}, 800, rows, best).option.series.map(({name}) => name);
  assert.deepEqual(names('min'), ['better', 'worse']);
  assert.deepEqual(names('max'), ['worse', 'better']);
});

test('a unit stands once: in the heading, and after the whole', () => {
  const columns = [{title: 'Throughput', text: (value, {summary}) => `${value} ${summary.throughput_unit}`}];
  const of = (...units) => units.map((unit) => ({summary: {throughput_unit: unit}}));
  assert.equal(inOneUnit(columns, of('tokens/s', 'tokens/s'))[0].title, 'Tokens/s');
  assert.equal(inOneUnit(columns, of('tokens/s', 'images/s'))[0].title, 'Throughput');
  const GiB = 2 ** 30;
  assert.equal(memoryText({memory_used_bytes: 1.5 * GiB, memory_capacity_bytes: 32 * GiB}), '1.5 of 32 GiB');
  assert.equal(memoryText({memory_used_bytes: GiB / 2, memory_capacity_bytes: 32 * GiB}), '512 MiB of 32 GiB');
});

const drawn = (system, latency, perToken) => record('bf16', {latency_s: latency, joules_per_request: 100 * perToken, joules_per_token: perToken,
  interval80: {joules_per_token: [perToken / 2, perToken * 2]}, calibrated_energy: system === 's' ? 0 : 0.9,
  energy: {parts: [{kind: 'dram', joules: 1}, {kind: 'active idle', joules: 3}]}});

test('joules are those of a token where there is one, by kind of work as in the record', () => {
  assert.equal(joulesOf(record('bf16', {joules_per_request: 2})), 2);
  assert.equal(joulesOf(drawn('s', 1, 0.5)), 0.5);
  assert.equal(joulesOf(record('bf16')), null);
  const records = [drawn('s', 1, 0.5)];
  assert.deepEqual(kindsOf(records), ['active idle', 'dram']);
  assert.ok(Math.abs(joulesByKind(records[0], 'active idle') - 0.375) < 1e-12);
  assert.equal(joulesByKind(records[0], 'l2'), 0);
  assert.equal(calibration(records[0]), 'not calibrated');
  assert.equal(calibration(drawn('t', 1, 1)), '90 %');
});

test('bars of energy carry their intervals, and stacks add up to the bar', () => {
  const records = [drawn('s', 1, 0.5), drawn('t', 2, 0.25)];
  const {option} = energyOption(theme, 800, records);
  assert.deepEqual(option.series[0].data, [0.5, 0.25]);
  assert.deepEqual(option.series[1].data[0], [0.25, 1, 0]);
  const stacks = kindsOption(theme, 800, records).option.series;
  assert.ok(Math.abs(stacks.reduce((sum, {data}) => sum + data[0], 0) - 0.5) < 1e-12);
});

test('latency against joules has a front of what nothing beats', () => {
  const records = [drawn('s', 1, 0.5), drawn('s', 2, 0.25), drawn('s', 3, 0.4)];
  const {option} = latencyOption(theme, 800, records);
  const front = option.series.find(({name}) => name === 'Pareto front');
  assert.deepEqual(front.data.map(({value}) => value), [[1, 0.5], [2, 0.25]]);
});

const predictedTable = {
  header: ['system', 'batch', 'call_ms', 'pred_call_ms', 'pred_call_lo_ms', 'pred_call_hi_ms', 'pred_memory_bytes', 'status', 'message'],
  rows: [
    ['s', '1', '10', '9', '8', '11', '1073741824', 'ok', ''],
    ['s', '2', '', '12.3456', '11', '14', '1073741824', 'ok', ''],
    ['s', '0', '', '', '', '', '', 'error', 'batch: must be 1 or more'],
  ],
  total: 3, failed: 1,
  quantities: [{name: 'call_ms', predicted: 'pred_call_ms', low: 'pred_call_lo_ms', high: 'pred_call_hi_ms', measured: 'call_ms'}],
};

test('rows of a table: heads have units, intervals stand beside predictions, names tell rows apart', () => {
  const rows = predictedRows(predictedTable);
  assert.deepEqual(predictionNames(predictedTable, rows), ['batch 1', 'batch 2', 'batch 0']);
  const columns = predictionColumns(predictedTable, rows);
  assert.deepEqual(columns.map(({title}) => title), ['system', 'batch', 'call (ms)', 'predicted call (ms)', '80 % interval (ms)',
    'predicted memory', 'status', 'message']);
  assert.deepEqual(columns.map((column) => cellText(column, rows[1])), ['s', '2', '', '12.35', '11 to 14', '1 GiB', 'ok', '']);
  assert.equal(headOf('pred_output_tokens_per_s'), 'predicted output tokens per s');
  assert.equal(headOf('pred_us'), 'predicted (µs)');
});

test('rows of a table: bars of those that were predicted, measured beside predicted', () => {
  const rows = predictedRows(predictedTable);
  const [quantity] = drawnQuantities(predictedTable, rows);
  const {option} = barsOption(theme, 800, rows.slice(0, 2), ['a', 'b'], quantity);
  assert.deepEqual(option.series[0].data, [9, 12.3456]);
  assert.deepEqual(option.series.find(({type}) => type === 'custom').data, [[8, 11, 0], [11, 14, 1]]);
  assert.deepEqual(option.series.find(({name}) => name === 'measured').data, [[10, 0]]);
  assert.deepEqual(samplesOf(rows, ['a', 'b', 'c'], quantity),
    [{row: 'a', group: [], measured: 'call_ms', value: 10, predicted: 9, interval80: [8, 11]}]);
});

test('rows of a table: what is missing is said', () => {
  assert.deepEqual(predictionsAnswer({total: 0, failed: 0, rows: []}), ['The table has no rows.']);
  assert.deepEqual(predictionsAnswer(predictedTable), ['3 rows, 2 predicted, 1 not.']);
  assert.deepEqual(predictionsAnswer({total: 5000, failed: 0, rows: predictedTable.rows, notes: ['128 tokens are assumed.']}),
    ['5,000 rows, all predicted.', 'The first 3 rows are shown; foretell predict -o rows.csv writes all.', '128 tokens are assumed.']);
  assert.deepEqual(drawnQuantities(predictedTable, predictedRows(predictedTable).slice(2)), []);
});
