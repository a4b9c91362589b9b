// The predictions side by side: the table that everything else is chosen from.
import {magnitude} from '../dimensions.js';
import {element} from '../dom.js';
import {memory, number, seconds, usd} from '../format.js';
import {changeOf, scenarioText, varyingScenario} from '../records.js';
import {makeTable} from '../table.js';

// Where a predicted number comes from, and how sure it is.
const origin = ({context}) => `Predicted by foretell ${context.version ?? ''}, factors ${context.factors || 'none'}, ` +
  `${number(context.assumed_values ?? 0)} assumed values`;
const range = (record, field, format) => {
  const found = record.summary.interval80?.[field];
  return (found ? `80 % interval: ${format(found[0])} to ${format(found[1])}. ` : '') + origin(record);
};
// "13.6–15.8 ms": one unit where it is the same.
export function intervalText(range) {
  if (!range) return '–';
  const [low, high] = range.map(seconds);
  const [value, unit] = low.split(' ');
  return `${high.endsWith(` ${unit}`) ? value : low} to ${high}`;
}
const priceOf = ({values = [], ...record}) => {
  const price = values.find(({path}) => path === 'system.price.on_demand');
  return price ? `${price.value} (${price.source}) over the throughput. ${origin(record)}` : origin(record);
};

const kColumns = [
  {title: 'System', value: ({context}) => context.system},
  {title: 'Workload', value: ({context}) => context.workload, varying: true},
  {title: 'Data type', value: ({context}) => context.dtype},
  {title: 'Change', value: changeOf, optional: true, broad: true, source: ({change, context}) => (change ? context.set.join(', ') : '')},
  {
    title: 'Latency',
    unit: 's',
    value: ({summary}) => summary.latency_s,
    text: seconds,
    source: (record) => range(record, 'latency_s', seconds),
    hint: 'What a client sees for one request, waiting for a free copy included',
  },
  {title: '80 % interval', value: ({summary}) => summary.interval80?.latency_s?.[0],
    text: (_, {summary}) => intervalText(summary.interval80?.latency_s), optional: true,
    hint: 'Of the latency: four of five measurements are expected inside'},
  {title: 'First token', unit: 's', value: ({summary}) => summary.ttft_s, text: seconds, optional: true,
    source: (record) => range(record, 'ttft_s', seconds)},
  {title: 'Per token', unit: 's', value: ({summary}) => summary.tpot_s, text: seconds, optional: true,
    source: (record) => range(record, 'tpot_s', seconds)},
  {
    title: 'Throughput',
    value: ({summary}) => summary.throughput,
    text: (value, {summary}) => `${number(value)} ${summary.throughput_unit ?? ''}`,
    source: (record) => range(record, 'throughput', number),
    hint: 'Of the whole system, all copies together',
    largestFirst: true,
  },
  {title: 'USD per million', unit: 'USD', value: ({summary}) => summary.cost_usd_per_million, text: usd, optional: true,
    hint: 'At the on-demand price, fully used', source: priceOf},
  {
    title: 'Memory',
    unit: 'bytes',
    value: ({summary}) => summary.memory_used_bytes,
    text: (_, {summary}) => memoryText(summary),
    hint: 'Used of what each device has',
    source: origin,
  },
  {title: 'Bottleneck', value: ({summary}) => summary.bottleneck ?? ''},
];

const kMaxChanges = 6;

// A column per overridden value where predictions differ in several; none where they have names.
export function changeColumns(records) {
  if (records.some(({change}) => change)) return [];
  const valueOf = ({context}, path) => (context.set ?? []).find((text) => text.startsWith(`${path}=`))?.slice(path.length + 1);
  const paths = [...new Set(records.flatMap(({context}) => (context.set ?? []).map((text) => text.slice(0, text.indexOf('=')))))]
    .filter((path) => new Set(records.map((record) => valueOf(record, path))).size > 1);
  if (paths.length < 2 || paths.length > kMaxChanges) return [];
  const brief = (path) => path.split('.').slice(-2).join(' ');
  return paths.map((path) => ({
    title: paths.filter((other) => brief(other) === brief(path)).length > 1 ? path : brief(path),
    hint: path,
    value: (record) => magnitude(valueOf(record, path) ?? '') ?? valueOf(record, path) ?? null,
    text: (_, record) => valueOf(record, path) ?? 'as shipped',
  }));
}

// The unit of the throughput in its heading where it is the same: so that more columns have room.
export function inOneUnit(columns, records) {
  const units = new Set(records.map((record) => record.summary.throughput_unit ?? ''));
  if (units.size !== 1) return columns;
  const [unit] = units;
  return columns.map((column) => (column.title === 'Throughput' && unit
    ? {...column, title: unit.charAt(0).toUpperCase() + unit.slice(1), text: (value) => number(value)}
    : column));
}

// "1.47 of 32 GiB".
export function memoryText({memory_used_bytes: used, memory_capacity_bytes: capacity}) {
  const [part, whole] = [memory(used), memory(capacity)];
  const unit = part.slice(part.indexOf(' '));
  return `${whole.endsWith(unit) ? part.slice(0, -unit.length) : part} of ${whole}`;
}

export const summary = {
  id: 'summary',
  title: 'Summary',
  applies: ({records}) => records.length > 0,
  draw(root, report) {
    const {records} = report;
    const changes = changeColumns(records);
    const fields = varyingScenario(records);
    const scenario = {title: 'Scenario', value: (record) => scenarioText(record, fields), optional: true, broad: true};
    const columns = [...kColumns.slice(0, 2), scenario, ...inOneUnit(kColumns.slice(2), records)]
      .flatMap((column) => (column.title === 'Change' && changes.length ? changes : [column]));
    const varies = ({value}) => new Set(records.map(value)).size > 1;
    const table = makeTable({
      name: 'Predictions',
      columns: columns.filter((column) => !column.varying || varies(column)),
      rows: records,
      onChoose: records.length > 1 ? (record) => report.choose(record) : null,
      fileName: 'predictions.csv',
    });
    if (records.length > 1) table.choose(report.chosen);
    report.whenChosen((record) => table.choose(record));
    root.append(
      element('p', {class: 'note'}, records.length > 1
        ? 'A heading sorts, a row chooses the prediction that the sections below take apart. ' +
          'Pointing at an underlined number, or touching it, shows what it rests on.'
        : 'Pointing at an underlined number, or touching it, shows what it rests on.'),
      table.element);
  },
};
