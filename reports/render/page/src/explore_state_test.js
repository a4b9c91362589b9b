import assert from 'node:assert/strict';
import test from 'node:test';

import {commandLine, firstState, kStops, optionsOf, positionOf, quantity, slidersOf, studyOf, valueAt} from './explore_state.js';

const state = () => firstState({on: 'inf2.xlarge', workload: 'gpt2', dtype: 'bf16'});

test('a state is the options of its mode alone', () => {
  assert.deepEqual(optionsOf(state()),
    [['on', 'inf2.xlarge'], ['workload', 'gpt2'], ['dtype', 'bf16'], ['batch', '8'], ['seq', '128']]);
  assert.deepEqual(optionsOf({...state(), mode: 'generation', dtype: ''}).map(([name]) => name),
    ['on', 'workload', 'batch', 'input-len', 'output-len']);
  assert.equal(commandLine({...state(), mode: 'service', set: {'device.hbm.bandwidth': '1 TB/s'}}),
    'foretell serve --on inf2.xlarge --workload gpt2 --dtype bf16 --input-len 1024 --output-len 128 --concurrency 32 '
      + "--requests 320 --set 'device.hbm.bandwidth=1 TB/s'");
});

test('the middle of a slider is the published value, its ends a quarter and four times', () => {
  assert.equal(valueAt(kStops / 2, '820 GB/s'), '820 GB/s');
  assert.equal(valueAt(0, '820 GB/s'), '205 GB/s');
  assert.equal(valueAt(kStops, '820 GB/s'), '3280 GB/s');
  assert.equal(valueAt(0, '2'), '1'); // whole numbers stay whole, and at least 1
  assert.equal(valueAt(kStops, '16'), '64');
  for (let at = 0; at <= kStops; at += 1) assert.equal(positionOf(valueAt(at, '2.8 GHz'), '2.8 GHz'), at);
});

test('what is no quantity has no slider', () => {
  assert.equal(quantity('by-size'), null);
  assert.deepEqual(quantity('0.5'), {value: 0.5, unit: ''});
  const rows = [
    {path: 'small', value: '1 GHz', latency: {less: 1, more: 1, twice: 0.99}},
    {path: 'text', value: 'ring', latency: {less: 1, more: 1, twice: 0.1}},
    {path: 'large', value: '1 GHz', latency: {less: 1.1, more: 0.9, twice: 0.5}, throughput: {less: 1, more: 1, twice: 2}},
  ];
  assert.deepEqual(slidersOf(rows).map(({path}) => path), ['large', 'small']);
});

test('a study varies what was moved', () => {
  assert.match(studyOf({...state(), set: {'core.tensor.clock': '3 GHz'}}), /vary:\n {2}core.tensor.clock: \[1.5 GHz, 3 GHz, 6 GHz\]/);
  assert.match(studyOf(state()), /vary:\n {2}batch: \[1, 2/);
  assert.doesNotMatch(studyOf(state()), /\n {2}batch: "8"/);
});
