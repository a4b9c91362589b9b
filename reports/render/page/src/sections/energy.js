// Joules and watts: per unit, by kind of work, and against latency.
import {figure, forgetFigures} from '../charts.js';
import {paretoFront} from '../dimensions.js';
import {choice, element, paragraph} from '../dom.js';
import {number, percent, seconds, si, usd} from '../format.js';
import {groupedBars, stackedBars} from '../options.js';
import {labelsOf, workloadsOf} from '../records.js';
import {makeTable} from '../table.js';
import {paretoOption} from './what_if.js';

const kBars = 16;
const kMinPoints = 4;
const kMaxColours = 8;
const joules = (value) => si(value, 'J');
const watts = (value) => si(value, 'W');

// Of a generation by token, else by sample.
export const joulesOf = ({summary}) => summary.joules_per_token ?? summary.joules_per_request ?? null;
const bandOf = ({summary}) =>
  summary.interval80?.[summary.joules_per_token == null ? 'joules_per_request' : 'joules_per_token'] ?? null;
export const unitOf = ({summary}) => (summary.joules_per_token == null ? 'sample' : 'token');

// Kinds of work by their joules over all records, most first.
export function kindsOf(records) {
  const sums = new Map();
  for (const {summary} of records) {
    const {parts = []} = summary.energy ?? {};
    const all = parts.reduce((total, part) => total + part.joules, 0);
    for (const {kind, joules: part} of parts) sums.set(kind, (sums.get(kind) ?? 0) + part / all);
  }
  return [...sums.entries()].sort((a, b) => b[1] - a[1]).map(([kind]) => kind);
}

// Joules of a unit that go into a kind of work.
export function joulesByKind(record, kind) {
  const {parts = []} = record.summary.energy ?? {};
  const all = parts.reduce((total, part) => total + part.joules, 0);
  const part = parts.find((one) => one.kind === kind);
  return part && all > 0 ? joulesOf(record) * part.joules / all : 0;
}

export const calibration = ({summary}) =>
  summary.calibrated_energy > 0 ? percent(summary.calibrated_energy) : 'not calibrated';

export function energyOption(theme, width, records) {
  return groupedBars(theme, width, {
    categories: labelsOf(records),
    format: joules,
    series: [{name: 'joules', values: records.map(joulesOf), intervals: records.map(bandOf)}],
  });
}

export function kindsOption(theme, width, records) {
  return stackedBars(theme, width, {
    categories: labelsOf(records),
    series: kindsOf(records).map((kind) => ({name: kind, values: records.map((record) => joulesByKind(record, kind))})),
    format: joules,
  });
}

const kLatency = {title: 'Latency', best: 'min', value: ({summary}) => summary.latency_s, text: seconds};
const energyMetric = (unit) => ({title: `Joules per ${unit}`, best: 'min', value: joulesOf, text: joules});

export function latencyOption(theme, width, records) {
  const systems = [...new Set(records.map(({context}) => context.system))];
  const colour = systems.length > 1 && systems.length <= kMaxColours
    ? {values: systems, of: new Map(records.map((record) => [record, record.context.system]))} : null;
  return paretoOption(theme, width,
    {records, labels: labelsOf(records), x: kLatency, y: energyMetric(unitOf(records[0])), colour});
}

export const energy = {
  id: 'energy',
  title: 'Energy',
  applies: ({records}) => records.some((record) => joulesOf(record) > 0),
  draw(root, {records}) {
    const known = records.filter((record) => joulesOf(record) > 0);
    const labels = labelsOf(known, ['system']);
    const labelOf = new Map(known.map((record, at) => [record, labels[at]]));
    const workloads = workloadsOf(known);
    const thriftiest = [...known].sort((a, b) =>
      workloads.indexOf(a.context.workload) - workloads.indexOf(b.context.workload) || joulesOf(a) - joulesOf(b));
    const charts = element('div');
    const show = (workload) => {
      const own = thriftiest.filter(({context}) => context.workload === workload);
      const unit = unitOf(own[0]);
      const shown = own.filter((record) => unitOf(record) === unit).slice(0, kBars);
      forgetFigures(charts);
      charts.replaceChildren(
        figure(`Joules of the boards in use per ${unit}, shorter is better; lines are 80 % intervals`,
          (theme, width) => energyOption(theme, width, shown), {marks: shown.length}),
        figure(`The same joules by kind of work; "active idle" is drawn with or without work`,
          (theme, width) => kindsOption(theme, width, shown), {marks: shown.length * kindsOf(shown).length}));
      if (own.length > shown.length) charts.append(paragraph(`The charts show the ${shown.length} of ${own.length} that take least.`));
      if (own.length >= kMinPoints) {
        const front = paretoFront(own, kLatency, energyMetric(unit)).length;
        charts.append(figure(`Latency against joules per ${unit}; ${front} of ${own.length} predictions are beaten by none in both`,
          (theme, width) => latencyOption(theme, width, own), {marks: own.length}));
      }
    };
    root.append(
      paragraph('Of the boards in use, idle time between calls included; "wall" adds the host, fans, losses of supplies and boards ' +
        'that idle. "Calibrated" is the share of the joules that rests on constants measured on the very device.'),
      ...(workloads.length > 1 ? [choice('Of', workloads.map((name) => ({label: name, value: name})), workloads[0], show)] : []),
      charts,
      makeTable({
        name: 'Energy and its cost',
        rows: thriftiest,
        pageRows: 15, fileName: 'energy.csv',
        columns: [
          {title: 'System', value: ({context}) => context.system},
          {title: 'Prediction', value: (record) => labelOf.get(record), broad: true},
          {title: 'Latency', value: ({summary}) => summary.latency_s, text: seconds},
          {title: 'Throughput', value: ({summary}) => summary.throughput,
            text: (v, {summary}) => `${number(v)} ${summary.throughput_unit}`, largestFirst: true},
          {title: 'Joules per unit', value: joulesOf, text: (v, record) => `${joules(v)} per ${unitOf(record)}`},
          {title: 'kWh per million, wall', value: ({summary}) => summary.wall_watts == null ? null : summary.wall_watts / summary.throughput / 3.6,
            text: (v) => number(v, 3)},
          {title: 'Boards', value: ({summary}) => summary.watts, text: watts},
          {title: 'Wall', value: ({summary}) => summary.wall_watts, text: watts},
          {title: 'USD per million', value: ({summary}) => summary.cost_usd_per_million, text: usd},
          {title: 'USD per million, energy', value: ({summary}) => summary.energy_usd_per_million, text: usd},
          {title: 'Calibrated', value: ({summary}) => summary.calibrated_energy, text: (_, record) => calibration(record)},
        ],
      }).element);
    show(workloads[0]);
  },
};
