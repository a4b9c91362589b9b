// What differs between the points of a study, and what is wanted of them. No document: tested alone.
import {memory, number, seconds, usd} from './format.js';
import {kMetricList} from '../generated/lists.js';
import {narrowFirst, titleOf} from './records.js';

const kTexts = {s: seconds, B: memory, USD: usd};

// `best` is 'min' or 'max'; metrics that no record has are left out by metricsOf. What should be high
// comes first.
const kMetrics = kMetricList
  .map(({id, field, title, unit, best}) => ({id, best, title: unit === 'USD' ? title : title[0].toUpperCase() + title.slice(1),
    value: ({summary}) => summary[field], text: kTexts[unit] ?? ((v) => number(v))}))
  .sort((a, b) => Number(b.best === 'max') - Number(a.best === 'max'));

// Results, and the objectives of a study that are none: {name, maximise, values} with one per record.
export function metricsOf(records, objectives = []) {
  const unit = records[0]?.summary.throughput_unit;
  const own = objectives.filter(({values}) => values.length === records.length).map(({name, maximise, values}) => {
    const of = new Map(records.map((record, at) => [record, values[at]]));
    return {id: name, title: name, best: maximise ? 'max' : 'min', value: (record) => of.get(record), text: (v) => number(v)};
  });
  return [...resultsOf(records, unit), ...own];
}

function resultsOf(records, unit) {
  return kMetrics
    .filter(({value}) => records.some((record) => value(record) != null))
    .map((metric) => (metric.id === 'throughput' && unit ? {...metric, title: `Throughput (${unit})`} : metric));
}

const kPrefixes = {'': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40,
  m: 1e-3, u: 1e-6, µ: 1e-6, n: 1e-9};

// "1.6 TB/s" is 1.6e12; null for what is no number with a unit.
export function magnitude(value) {
  if (typeof value === 'number') return value;
  const found = /^([-+]?[\d.]+(?:e[-+]?\d+)?)\s*(?:(Ki|Mi|Gi|Ti|[kMGTPmuµn])?(s|B|b|bit|FLOP|Hz|h)?(?:\/.*)?|cycles|USD\/h|%|x)?$/
    .exec(String(value).trim());
  return found && Number.isFinite(Number(found[1])) ? Number(found[1]) * kPrefixes[found[2] ?? ''] : null;
}

// Numbers by size, units counted; other words as they come, before the numbers.
export function inOrder(values) {
  const size = (value) => magnitude(value) ?? -Infinity;
  const difference = (a, b) => (size(a) === size(b) ? 0 : size(a) - size(b));
  return [...values].sort(difference);
}

function flat({context}) {
  const out = {system: context.system, workload: context.workload, 'data type': context.dtype};
  for (const override of context.set ?? []) {
    const at = override.indexOf('=');
    out[override.slice(0, at)] = override.slice(at + 1);
  }
  const {service = {}, ...scenario} = context.scenario ?? {};
  for (const [field, value] of Object.entries(scenario)) out[titleOf(field)] = value;
  Object.assign(out, service);
  return out;
}

// {name, values (ordered), of: Map record → value} of everything that tells the records apart; what
// follows from the dimensions before it is left out. Parameters come in the order of `studied`, if any.
export function dimensionsOf(records, studied = []) {
  const rows = records.map(flat);
  const order = (name) => (studied.includes(name) ? studied.indexOf(name) : name.includes('.') ? studied.length : -1);
  const names = [...new Set(rows.flatMap(Object.keys))].sort((a, b) => order(a) - order(b));
  const dimensions = [];
  let keys = rows.map(() => '');
  let classes = 1;
  for (const name of names) {
    const finer = rows.map((row, at) => `${keys[at]}\n${row[name] ?? ''}`);
    const count = new Set(finer).size;
    if (count === classes) continue;
    keys = finer;
    classes = count;
    const words = rows.map((row) => row[name] ?? 'as shipped');
    dimensions.push({name, values: name === 'data type' ? narrowFirst(new Set(words)) : inOrder(new Set(words)), of: new Map(records.map((record, at) => [record, words[at]]))});
  }
  return dimensions;
}

const better = (best, a, b) => (best === 'min' ? a < b : a > b);

// Less of a difference is noise.
const noise = 1e-3;
const gains = (metric, a, b) => {
  const [x, y] = [metric.value(a), metric.value(b)];
  return better(metric.best, x, y) && Math.abs(x - y) > noise * Math.abs(y);
};

// Without points that gain by noise alone: the best of both together first, one that is kept stands for those
// that gain no more than noise over it.
function distinct(front, first, second) {
  const log = (metric, record) => Math.log(Math.abs(metric.value(record)) || 1) * (metric.best === 'min' ? 1 : -1);
  const together = (record) => log(first, record) + log(second, record);
  const kept = [];
  for (const record of [...front].sort((a, b) => together(a) - together(b))) {
    if (kept.every((other) => gains(first, record, other) || gains(second, record, other))) kept.push(record);
  }
  return front.filter((record) => kept.includes(record));
}

// Records that no other beats in one of the metrics without losing in the other, by the first.
export function paretoFront(records, first, second) {
  const known = records.filter((record) => first.value(record) != null && second.value(record) != null);
  const sorted = known.sort((a, b) => {
    const [x, y] = [first.value(a), first.value(b)];
    if (x !== y) return better(first.best, x, y) ? -1 : 1;
    return better(second.best, second.value(a), second.value(b)) ? -1 : 1;
  });
  const front = [];
  for (const record of sorted) {
    if (front.length === 0 || better(second.best, second.value(record), second.value(front.at(-1)))) front.push(record);
  }
  return distinct(front, first, second);
}

// The best value of a metric per pair of values: [column, row, value].
export function heatCells(records, columns, rows, metric) {
  const cells = new Map();
  for (const record of records) {
    const value = metric.value(record);
    if (value == null) continue;
    const key = `${columns.values.indexOf(columns.of.get(record))},${rows.values.indexOf(rows.of.get(record))}`;
    if (!cells.has(key) || better(metric.best, value, cells.get(key))) cells.set(key, value);
  }
  return [...cells].map(([key, value]) => [...key.split(',').map(Number), value]);
}

// How far a metric moves when one dimension alone leaves its value of `base`: {name, low, high} with
// {value, share} where share is the change against the base; widest first. Dimensions without a
// neighbour of the base are left out.
export function tornadoRows(records, dimensions, metric, base) {
  const reference = metric.value(base);
  if (!reference) return [];
  const same = (record, except) =>
    dimensions.every((dimension) => dimension === except || dimension.of.get(record) === dimension.of.get(base));
  return dimensions.map((dimension) => {
    const ends = records
      .filter((record) => metric.value(record) != null && same(record, dimension))
      .map((record) => ({value: dimension.of.get(record), share: metric.value(record) / reference - 1}))
      .sort((a, b) => a.share - b.share);
    return {name: dimension.name, base: dimension.of.get(base), low: ends[0], high: ends.at(-1), count: ends.length};
  })
    .filter(({count}) => count > 1)
    .sort((a, b) => (b.high.share - b.low.share) - (a.high.share - a.low.share));
}
