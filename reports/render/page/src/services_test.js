// Services and their loads, without a document.
import assert from 'node:assert/strict';
import test from 'node:test';

import {cdfOption, cdfWords} from './sections/distribution.js';
import {curveWords, loadCurveOption, pointsOf} from './sections/load_curve.js';
import {serviceTimeOption, timeWords} from './sections/service_time.js';
import {curvesOf, evenly, kLatencies, labelsOfServices, latencyOf, loadOf, promisesOn, servicesOf, shareWithin} from './services.js';

const theme = {ink: '#000', muted: '#555', line: '#ccc', paper: '#fff', surface: '#eee', accent: '#00f',
  series: ['#1', '#2', '#3', '#4', '#5', '#6', '#7', '#8']};

const shares = [0, 0.5, 0.9, 0.99, 1];
const service = (rate, {system = 's', tokens = 100 * rate, tpot = 0.01 * rate, more = {}} = {}) => ({
  load: `${rate} requests/s`,
  context: {system, workload: 'w', dtype: 'bf16', kv_dtype: 'bf16', engine: 'e@1', set: [], notes: [],
    scenario: {rate: String(rate), input_len: '128', requests: String(100 * rate), ...more}},
  summary: {output_tokens_per_s: tokens, ttft_s: {mean: 0.1, p99: 0.5}, tpot_s: {mean: tpot, p99: 2 * tpot}, e2e_s: {mean: 1, p99: 3},
    interval80: {'tpot_s.mean': [0.8 * tpot, 1.2 * tpot]}, promises: [{metric: 'tpot', statistic: 'p99', limit_s: 0.05}]},
  distributions: {shares, tpot_s: [tpot, tpot, 1.5 * tpot, 2 * tpot, 4 * tpot]},
  timeline: [0, 1, 2].map((second) => ({second, running: 2 * second, waiting: 1, batch: second, kv_used_share: 0.5, output_tokens_per_s: 7})),
});

test('loads of one service are one curve by rising load, whatever their order and number of requests', () => {
  const curves = curvesOf([service(4), service(1), service(2), service(1, {system: 'other'})]);
  assert.deepEqual(curves.map(({name, services}) => [name, services.map(loadOf)]), [['s', [1, 2, 4]], ['other', [1]]]);
});

test('rates and users never stand in one curve', () => {
  const users = service(1);
  delete users.context.scenario.rate;
  users.context.scenario.concurrency = '8';
  assert.equal(curvesOf([service(1), service(2), users]).length, 2);
});

test('services are distinguished by what differs beside the load', () => {
  assert.deepEqual(labelsOfServices([service(1), service(2, {more: {chunk: '512'}})]), ['', 'chunk 512']);
});

test('bands hold their points, and a latency without a number has no point', () => {
  const [curve] = curvesOf([service(1), service(2)]);
  const across = {title: 'x', value: ({summary}) => summary.output_tokens_per_s, text: String};
  for (const latency of kLatencies) {
    for (const {low, y, high} of pointsOf(curve, across, latency)) assert.ok(low <= y && y <= high);
  }
  assert.equal(pointsOf(curve, across, {id: 'ttft_s.p90'}).length, 0);
  const {option} = loadCurveOption(theme, 600, {curves: [curve], across, latency: kLatencies[0], promises: []});
  assert.deepEqual(option.series.map(({type}) => type), ['custom', 'line']);
  assert.match(curveWords([curve], across, kLatencies[0], []), /10 ms at 100 to 20 ms at 200/);
});

test('a promise stands in the chart of its time alone, once', () => {
  const services = [service(1), service(2)];
  assert.equal(promisesOn(services, 'tpot_s').length, 1);
  assert.equal(promisesOn(services, 'tpot_s', 'mean').length, 0);
  assert.equal(promisesOn(services, 'ttft_s').length, 0);
});

test('the share within a limit is that of the distribution', () => {
  const one = service(2); // 20, 20, 30, 40, 80 ms
  const within = [0.01, 0.02, 0.035, 0.05, 1].map((limit) => shareWithin(one, 'tpot_s', limit));
  assert.deepEqual(within, [0, 0.5, 0.9, 0.99, 1]);
  assert.equal(shareWithin(one, 'ttft_s', 1), null);
  assert.match(cdfWords([one], ['a'], 'tpot_s', promisesOn([one], 'tpot_s')), /half within 20 ms.*99 % of the requests of a keep/);
  const {option} = cdfOption(theme, 600, {services: [one], names: ['a'], field: 'tpot_s', promises: promisesOn([one], 'tpot_s')});
  assert.deepEqual(option.series[0].markLine.data.map(({xAxis, yAxis}) => xAxis ?? yAxis), [0.05, 0.99]);
});

test('a timeline says its mean and its peak', () => {
  const chart = {lines: [['running', 'running']], text: String};
  assert.equal(timeWords(service(1).timeline, chart), 'running: 2 on average, at most 4 at 2 s');
  assert.equal(serviceTimeOption(theme, 600, service(1).timeline, chart).option.series[0].data.at(-1)[0], 3); // the last second ends
});

test('predictions of studies that were served are points of a curve', () => {
  const record = (rate) => ({context: {system: 's', workload: 'w', dtype: 'bf16', scenario: {tp: 2, service: {rate: String(rate)}}, set: []},
    summary: {served: {promises: [{metric: 'e2e', statistic: 'p90', limit_s: 4}], shares, e2e_s: [1, 2, 3, 4, 5]}, throughput: 10 * rate, latency_s: 3, ttft_s: 1, tpot_s: 0.1, ttft_p99_s: 2, tpot_p99_s: 0.2, e2e_p99_s: 5, interval80: {tpot_s: [0.05, 0.2]}}});
  const [curve] = curvesOf(servicesOf({data: {}, records: [record(2), record(1), {context: {}, summary: {}}]}));
  assert.deepEqual(curve.services.map(({load}) => load), ['1 requests/s', '2 requests/s']);
  assert.deepEqual(kLatencies.map(({id}) => latencyOf(curve.services[0], id)), [0.1, 0.2, 1, 2, 3, 5]);
  assert.equal(shareWithin(curve.services[0], 'e2e_s', 4), 0.99);
  assert.deepEqual(promisesOn(curve.services, 'e2e_s', 'p90').map(({limit_s}) => limit_s), [4]);
});

test('of many loads the first, the last and some between are drawn', () => {
  assert.deepEqual(evenly([1, 2, 3, 4, 5, 6, 7, 8, 9], 3), [1, 5, 9]);
  assert.deepEqual(evenly([1, 2], 3), [1, 2]);
});
