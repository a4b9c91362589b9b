// What the page says about foretell.run/1 records. No document, no charts: tested on its own.

import {kFields} from '../generated/lists.js';

const kWords = Object.fromEntries(kFields.map(({key, title}) => [key, title]));
const kFieldOf = Object.fromEntries(kFields.filter(({option}) => option).map(({key, option}) => [option, key]));

export const titleOf = (field) => kWords[field] ?? field;

export function quoted(word) {
  return /^[\w.,:/=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

// The fields of a scenario with their values: lengths that vary stand in place of their number, and
// every branch and loop is a field.
export function scenarioFields({context}) {
  const {distributions = {}, branches = {}, trips = {}, dimensions = {}, service = {}, ...fields} = context.scenario ?? {};
  for (const [option, text] of Object.entries(distributions)) fields[kFieldOf[option] ?? option] = text;
  for (const [name, text] of Object.entries(branches)) fields[`branch ${name}`] = text;
  for (const [name, text] of Object.entries(trips)) fields[`trips ${name}`] = text;
  for (const [name, size] of Object.entries(dimensions)) fields[name] ??= size;
  for (const [key, text] of Object.entries(service)) fields[key.replaceAll('_', ' ')] = text;
  return fields;
}

// Scenario fields that differ between the records.
export function varyingScenario(records) {
  const scenarios = records.map(scenarioFields);
  return [...new Set(scenarios.flatMap(Object.keys))].filter(
    (field) => new Set(scenarios.map((scenario) => scenario[field])).size > 1);
}

// RFC 7396; `base` stays as it is.
function patched(base, patch) {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const made = base !== null && typeof base === 'object' && !Array.isArray(base) ? {...base} : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete made[name];
    else made[name] = patched(made[name], value);
  }
  return made;
}

// Members that many records have in common stand once, in the list `shared`, and are numbers elsewhere.
function inflate(record, shared) {
  const whole = (value) => (typeof value === 'number' ? shared[value] : value);
  record.machine = whole(record.machine) ?? null;
  record.values = whole(record.values) ?? [];
  record.context = {...record.context, notes: whole(record.context?.notes) ?? []};
}

// Throws an Error with a sentence for the reader when the data is not what the page draws.
export function parseReport(text) {
  const report = JSON.parse(text);
  if (report?.schema !== 'foretell.report/1') {
    throw new Error(`cannot draw data of schema '${report?.schema}', only foretell.report/1`);
  }
  report.records = report.records.map((patch) => patched(report.base ?? {}, patch));
  for (const record of report.records) {
    if (record.schema !== 'foretell.run/1') {
      throw new Error(`cannot draw records of schema '${record.schema}', only foretell.run/1`);
    }
    inflate(record, report.shared ?? []);
    record.change = report.frame?.names?.[(record.context.set ?? []).join(', ')];
  }
  return report;
}

// Of all fields, or of those named.
export const scenarioText = (record, fields) =>
  Object.entries(scenarioFields(record))
    .filter(([field]) => !fields || fields.includes(field))
    .map(([field, value]) => `${titleOf(field)} ${value}`)
    .join(', ');

export function commandOf({context}) {
  const scenario = scenarioFields({context});
  const workload = context.workload_file ?? context.workload;
  const {service} = context.scenario ?? {};
  const words = ['foretell', service?.plan ? 'plan' : service ? 'serve' : 'run', '--on', context.system, '--workload', workload, '--dtype', context.dtype];
  for (const {key, option, kind} of kFields) {
    if (!option || scenario[key] == null && kind !== 'pairs') continue;
    if (service?.plan && key === 'label') continue; // says what was chosen
    if (kind === 'flag') {
      if (scenario[key]) words.push(`--${option}`);
    } else if (kind === 'pairs') {
      for (const [name, text] of Object.entries(context.scenario?.[key] ?? {})) words.push(`--${option}`, `${name}=${text}`);
    } else {
      words.push(`--${option}`, String(scenario[key]));
    }
  }
  for (const [key, text] of Object.entries(service ?? {})) words.push(key === 'plan' ? '--workers' : `--${key.replaceAll('_', '-')}`, text);
  for (const override of context.set ?? []) words.push('--set', override);
  if (context.factors === 'none') words.push('--factors', 'none');
  if (context.seed) words.push('--seed', String(context.seed));
  return words.map(quoted).join(' ');
}

// Overrides in a word where the report has one for them.
export const changeOf = ({context, change}) => change ?? (context.set ?? []).join(', ');

const flatten = ({context, change}) => ({
  system: context.system,
  workload: context.workload,
  dtype: context.dtype,
  ...scenarioFields({context}),
  set: changeOf({context, change}),
  factors: context.factors,
});

// Fields that tell the rows apart; one that follows from those before it is left out.
function tellingFields(rows) {
  const fields = [];
  let classes = 1;
  for (const field of new Set(rows.flatMap(Object.keys))) {
    const finer = new Set(rows.map((row) => JSON.stringify([...fields, field].map((name) => row[name])))).size;
    if (finer > classes) {
      fields.push(field);
      classes = finer;
    }
  }
  return fields;
}

// One label per record, made of the fields that tell them apart (without `except`); the data type
// when nothing differs.
export function labelsOf(records, except = []) {
  const rows = records.map(flatten);
  const fields = tellingFields(rows).filter((field) => !except.includes(field));
  const plain = ['system', 'workload', 'dtype', 'set'];
  const word = (row, field) =>
    plain.includes(field) ? row[field] || 'as shipped' : `${titleOf(field)} ${row[field] ?? '–'}`;
  return rows.map((row) => (fields.length ? fields.map((field) => word(row, field)).join(' · ') : row.dtype));
}

const kNarrowToWide = ['int4-weights', 'int4', 'nvfp4', 'int8-datasheet', 'int8', 'int8-weights', 'fp8-weights', 'fp8',
  'fp16', 'bf16', 'bf16-matmul', 'tf32', 'fp32'];

// The networks that records are of. What is ranked is ranked among records of one.
export const workloadsOf = (records) => [...new Set(records.map(({context}) => context.workload))];

// Data types from narrow to wide; other names follow in their own order.
export function narrowFirst(dtypes) {
  const rank = (dtype) => (kNarrowToWide.includes(dtype) ? kNarrowToWide.indexOf(dtype) : kNarrowToWide.length);
  return [...dtypes].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b, 'en', {numeric: true}));
}

// The record with the highest throughput. A rate that only the datasheet promises (…-datasheet) wins
// over nothing but its like.
export function bestOf(records) {
  const promised = ({context}) => context.dtype.endsWith('-datasheet');
  const better = (a, b) =>
    promised(a) === promised(b) ? b.summary.throughput > a.summary.throughput : promised(a);
  return records.reduce((a, b) => (better(a, b) ? b : a));
}

const pattern = (name) => name.replace(/\d+/g, '*');

function grouped(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return [...groups.entries()];
}

const sum = (items, field) => items.reduce((total, item) => total + (item[field] ?? 0), 0);

function mostCommon(values) {
  const ranked = grouped(values, (value) => value ?? '').sort((a, b) => b[1].length - a[1].length);
  return ranked.length ? ranked[0][0] : '';
}

// What names have in common, with * for numbers that differ.
function commonName(names) {
  const parts = names.map((name) => name.split(/(\d+)/));
  return parts[0].map((part, at) => (parts.every((other) => other[at] === part) ? part : '*')).join('');
}

// Operators that do equal work and differ only by numbers in their names (the layer) are one row;
// longest first.
export function operatorRows(operators) {
  return grouped(operators, ({name, op, flops}) => `${pattern(name)} ${op} ${flops ?? 0}`)
    .map(([, members]) => ({
      name: members.length > 1 ? `${commonName(members.map(({name}) => name))} (×${members.length})` : members[0].name,
      op: mostCommon(members.map(({op}) => op)),
      engine: mostCommon(members.map(({engine}) => engine)),
      critical: mostCommon(members.map(({critical}) => critical)),
      duration_s: sum(members, 'duration_s'),
      flops: sum(members, 'flops'),
      bytes: sum(members, 'bytes'),
    }))
    .sort((a, b) => b.duration_s - a.duration_s);
}

// Share of the operators' time that each resource limits; largest first.
export function criticalShares(operators) {
  const total = sum(operators, 'duration_s');
  return grouped(operators, ({critical}) => critical || 'nothing in particular')
    .map(([name, members]) => ({name, share: sum(members, 'duration_s') / total}))
    .filter(({share}) => share > 0)
    .sort((a, b) => b.share - a.share);
}

// Equal resources (cores, chips, rings that differ by a number) are one row with their mean shares;
// busiest first, idle ones left out.
export function resourceRows(resources) {
  return grouped(resources, ({path}) => pattern(path))
    .map(([key, members]) => ({
      path: members.length > 1 ? `${key} (mean of ${members.length})` : members[0].path,
      busy: sum(members, 'busy') / members.length,
      stalled: sum(members, 'stalled') / members.length,
      bytes: sum(members, 'bytes'),
    }))
    .filter(({busy, stalled}) => busy + stalled > 0)
    .sort((a, b) => b.busy - a.busy || b.stalled - a.stalled);
}
