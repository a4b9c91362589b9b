import assert from 'node:assert/strict';
import test from 'node:test';

import {dimensionsOf, heatCells, inOrder, magnitude, metricsOf, paretoFront, tornadoRows} from './dimensions.js';
import {clippedApart} from './options.js';

const point = ({dtype = 'bf16', batch = 1, set = [], throughput = 1, latency = 1} = {}) => ({
  context: {system: 's', workload: 'w', dtype, scenario: {batch, dp: 2}, set},
  summary: {throughput, latency_s: latency, throughput_unit: 'inferences/s'},
});

test('amounts are ordered by size, not by letters', () => {
  assert.deepEqual(inOrder(['1.6 TB/s', '820 GB/s', '400 GB/s']), ['400 GB/s', '820 GB/s', '1.6 TB/s']);
  assert.deepEqual(inOrder([32, 8, 1]), [1, 8, 32]);
  assert.deepEqual(inOrder(['b', 'a', 'c']), ['b', 'a', 'c']);
  assert.equal(magnitude('64 KiB'), 65536);
  assert.equal(magnitude('96 GiB/s'), 96 * 2 ** 30);
  assert.equal(magnitude('2 us'), 2e-6);
  assert.equal(magnitude('ring'), null);
});

test('dimensions are what tells points apart, overrides by their path', () => {
  const records = [point(), point({set: ['a.b=2 GHz']}), point({dtype: 'fp8'}), point({dtype: 'fp8', set: ['a.b=2 GHz']})];
  const dimensions = dimensionsOf(records);
  assert.deepEqual(dimensions.map(({name}) => name), ['data type', 'a.b']);
  assert.deepEqual(dimensions[1].values, ['as shipped', '2 GHz']);
});

test('a study names its parameters first, and its own objectives are metrics', () => {
  const records = [1, 2].map((n) => point({set: [`derived.rate=${n} GB/s`, `varied.rate=${n} TB/s`]}));
  assert.deepEqual(dimensionsOf(records, ['varied.rate', 'derived.rate']).map(({name}) => name), ['varied.rate']);
  const effort = metricsOf(records, [{name: 'effort', maximise: false, values: [3, 4]}, {name: 'latency', values: []}]).at(-1);
  assert.deepEqual([effort.id, effort.best, effort.value(records[1])], ['effort', 'min', 4]);
});

test('the front holds the points that no other beats in both', () => {
  const records = [[1, 10], [2, 20], [3, 15], [4, 30], [1, 9]].map(([latency, throughput]) => point({latency, throughput}));
  const [throughput, latency] = metricsOf(records);
  const front = paretoFront(records, latency, throughput);
  assert.deepEqual(front.map(({summary}) => summary.throughput), [10, 20, 30]);
});

test('what differs by a thousandth is no point of the front of its own', () => {
  const of = (pairs) => {
    const records = pairs.map(([latency, throughput]) => point({latency, throughput}));
    const [throughput, latency] = metricsOf(records);
    return paretoFront(records, latency, throughput).map(({summary}) => summary.throughput);
  };
  assert.deepEqual(of([[1, 10], [2, 10.005]]), [10]);
  assert.deepEqual(of([[1, 10], [1.0005, 20]]), [20]);
  assert.deepEqual(of([[1, 10], [1.01, 10.1]]), [10, 10.1]);
  const chain = of(Array.from({length: 100}, (_, n) => [1 + 5e-4 * n, 10 + 2e-2 * n])); // never all of it
  assert.ok(chain.length > 10 && chain[0] <= 10.02 && chain.at(-1) >= 11.96, `${chain}`);
});

test('names that are cut still differ', () => {
  const names = ['device.hbm.bandwidth=820 GB/s batch 8 bf16', 'device.hbm.bandwidth=1.64 TB/s batch 8 bf16', 'batch 8'];
  assert.deepEqual(clippedApart(names, 16), ['…820 GB/s batch…', '…1.64 TB/s batc…', 'batch 8']);
  assert.deepEqual(clippedApart(['one', 'two'], 16), ['one', 'two']);
  assert.equal(new Set(clippedApart(['x'.repeat(40) + 'a', 'x'.repeat(40) + 'b'], 12)).size, 2);
});

test('a heat map shows the best over everything else', () => {
  const records = [1, 8].flatMap((batch) => ['bf16', 'fp8'].flatMap((dtype) =>
    [1, 2].map((clock) => point({batch, dtype, set: [`c=${clock} GHz`], throughput: batch * clock}))));
  const dimensions = dimensionsOf(records);
  const named = (name) => dimensions.find((dimension) => dimension.name === name);
  const cells = heatCells(records, named('batch'), named('data type'), metricsOf(records)[0]);
  assert.deepEqual(cells.map(([, , value]) => value).sort((a, b) => a - b), [2, 2, 16, 16]);
});

test('a tornado changes one parameter alone, the widest first', () => {
  const base = point({batch: 8, throughput: 10});
  const records = [base, point({batch: 1, throughput: 5}), point({batch: 8, dtype: 'fp8', throughput: 12}),
    point({batch: 1, dtype: 'fp8', throughput: 99})];
  const dimensions = dimensionsOf(records);
  const rows = tornadoRows(records, dimensions, metricsOf(records)[0], base);
  assert.deepEqual(rows.map(({name}) => name), ['batch', 'data type']);
  assert.equal(rows[0].low.share, -0.5);
  assert.ok(Math.abs(rows[1].high.share - 0.2) < 1e-12);
});
