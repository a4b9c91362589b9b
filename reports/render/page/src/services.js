// Services and their loads, without a document. A service is an object of schema "foretell.serve/1"
// with `load`, its load in words; predictions of studies that were served become such objects, too.

import {scenarioFields} from './records.js';

const kLoadKeys = ['rate', 'concurrency', 'offline'];
const kOfTheLoad = [...kLoadKeys, 'requests', 'trace', 'warm_up']; // what a curve may differ in
const kUnits = {rate: 'requests/s', concurrency: 'users', offline: 'requests at once'};

// Which of the keys states the load; null for a trace.
export const loadKey = ({context}) => kLoadKeys.find((key) => context.scenario?.[key] != null) ?? null;
export const loadUnit = (key) => kUnits[key] ?? '';
export const loadOf = (service) => Number(service.context.scenario?.[loadKey(service)] ?? NaN);

function loadWords(service) {
  const key = loadKey(service);
  return key ? `${service.context.scenario[key]} ${kUnits[key]}` : service.context.scenario?.trace ?? '';
}

// A prediction of a study as a service: what a study keeps of it.
function serviceOf({context, summary}) {
  const both = (name) => ({mean: summary[name], p99: summary[`${name.slice(0, -2)}_p99_s`] ?? null});
  const {promises = [], shares, ...times} = summary.served ?? {};
  const service = {
    context: {...context, scenario: {...scenarioFields({context: {scenario: {...context.scenario, service: {}}}}), ...context.scenario.service}, engine: context.scenario.service.engine ?? ''},
    summary: {...summary, ttft_s: both('ttft_s'), tpot_s: both('tpot_s'), e2e_s: {mean: summary.latency_s, p99: summary.e2e_p99_s ?? null},
      output_tokens_per_s: summary.throughput, promises,
      interval80: {'ttft_s.mean': summary.interval80?.ttft_s, 'tpot_s.mean': summary.interval80?.tpot_s,
        'e2e_s.mean': summary.interval80?.latency_s, output_tokens_per_s: summary.interval80?.throughput}},
    distributions: shares ? {shares, ...times} : undefined,
    timeline: [],
  };
  return {...service, load: loadWords(service)};
}

export function servicesOf({data, records}) {
  return [...(data.services ?? []), ...records.filter(({context}) => context.scenario?.service).map(serviceOf)];
}

function traitsOf({context}) {
  const scenario = Object.fromEntries(Object.entries(context.scenario ?? {}).filter(([key]) => !kOfTheLoad.includes(key)));
  return {workload: context.workload, system: context.system, dtype: context.dtype, 'KV cache': context.kv_dtype,
    engine: (context.engine ?? '').split('@')[0], ...scenario, set: (context.set ?? []).join(', ')};
}

// What tells services apart beside their load: a text for each, '' where nothing does.
export function labelsOfServices(services) {
  const traits = services.map(traitsOf);
  const names = [...new Set(traits.flatMap(Object.keys))]
    .filter((name) => new Set(traits.map((one) => one[name] ?? '')).size > 1);
  const plain = ['workload', 'system', 'dtype', 'engine', 'set'];
  return traits.map((one) => names.map((name) => {
    const value = one[name] ?? '';
    return plain.includes(name) ? value : value && `${name.replaceAll('_', ' ')} ${value}`;
  }).filter(Boolean).join(' · '));
}

// Services that differ in their load alone, as {name, services} by rising load. Lone ones are points.
export function curvesOf(services) {
  const labels = labelsOfServices(services);
  const groups = new Map();
  services.forEach((service, at) => {
    const key = JSON.stringify([labels[at], loadKey(service)]);
    if (!groups.has(key)) groups.set(key, {name: labels[at] || 'all loads', services: []});
    groups.get(key).services.push(service);
  });
  return [...groups.values()].map(({name, services: own}) => ({name, services: [...own].sort((a, b) => loadOf(a) - loadOf(b))}));
}

// At most `most` of them, evenly apart, with the first and the last.
export function evenly(all, most) {
  if (all.length <= most) return all;
  return Array.from({length: most}, (_, at) => all[Math.round(at * (all.length - 1) / (most - 1))]);
}

export const kLatencies = [
  {id: 'tpot_s.mean', title: 'Time per token, mean'}, {id: 'tpot_s.p99', title: 'Time per token, 99 %'},
  {id: 'ttft_s.mean', title: 'First token, mean'}, {id: 'ttft_s.p99', title: 'First token, 99 %'},
  {id: 'e2e_s.mean', title: 'Whole answer, mean'}, {id: 'e2e_s.p99', title: 'Whole answer, 99 %'},
];

export function latencyOf({summary}, id) {
  const [field, statistic] = id.split('.');
  return summary[field]?.[statistic] ?? null;
}

export const bandOf = ({summary}, id) => summary.interval80?.[id] ?? null;

const kNames = {ttft: 'First token', tpot: 'Per token', itl: 'Between tokens', e2e: 'Whole answer'};
export const nameOfTime = (field) => kNames[field.replace('_s', '')] ?? field;

const kStatisticWords = {mean: 'mean', p50: '50 %', p90: '90 %', p95: '95 %', p99: '99 %'};
export const promiseWords = ({statistic, limit_s: limit}, seconds) => `promise: ${kStatisticWords[statistic] ?? statistic} within ${seconds(limit)}`;

// The promises on one of the times, each once over all services: [{metric, statistic, limit_s}].
export function promisesOn(services, field, statistic) {
  const all = services.flatMap(({summary}) => summary.promises ?? [])
    .filter((promise) => `${promise.metric}_s` === field && (!statistic || promise.statistic === statistic));
  return [...new Map(all.map((promise) => [JSON.stringify(promise), promise])).values()];
}

// The share of the requests of a service that took at most `limit`; null where it is not known.
export function shareWithin(service, field, limit) {
  const {shares = [], [field]: times = []} = service.distributions ?? {};
  if (times.length === 0) return null;
  if (limit < times[0]) return 0;
  const above = times.findIndex((time) => time > limit);
  return above < 0 ? 1 : shares[above - 1];
}
