// Rows of a table with their predictions.
import {figure, forgetFigures} from '../charts.js';
import {choice, element, paragraph} from '../dom.js';
import {memory, number} from '../format.js';
import {groupedBars} from '../options.js';
import {makeTable} from '../table.js';
import {nameOf, scatterOption} from './accuracy.js';

const kMaxBars = 40;
const kNameColumns = 4; // that tell rows apart

const kUnits = {ms: 'ms', us: 'µs', s: 's', w: 'W', bytes: 'bytes', gb: 'GB', gbps: 'GB/s', usd: 'USD'};
const kHeads = {throughput: 'throughput (per second)', usd_per_million: 'USD per million', memory_bytes: 'memory'};

const counted = (count, one) => `${count.toLocaleString('en-US')} ${count === 1 ? one : `${one}s`}`;

// "pred_ttft_ms" is "predicted ttft (ms)". A rate keeps its words: "predicted output tokens per s".
export function headOf(column) {
  const name = column.replace(/^pred_/, '');
  const start = name === column ? [] : ['predicted'];
  const words = name.split('_');
  const unit = words.at(-2) === 'per' ? undefined : kUnits[words.at(-1).toLowerCase()];
  const isUnit = unit !== undefined && start.length + words.length > 1;
  return [...start, kHeads[name] ?? (isUnit ? [...words.slice(0, -1), `(${unit})`] : words).join(' ')].join(' ');
}

const valueOf = (text) => (text === '' || text == null ? null : Number(text));
const isNumber = (text) => text !== '' && Number.isFinite(Number(text));

// The sentences above the page: how many rows were predicted, and what was assumed.
export function predictionsAnswer({total, failed, rows, notes = []}) {
  const answer = total === 0 ? 'The table has no rows.'
    : failed === 0 ? `${counted(total, 'row')}, all predicted.`
      : `${counted(total, 'row')}, ${(total - failed).toLocaleString('en-US')} predicted, ${failed.toLocaleString('en-US')} not.`;
  const part = rows.length < total
    ? [`The first ${counted(rows.length, 'row')} are shown; foretell predict -o rows.csv writes all.`] : [];
  return [answer, ...part, ...notes];
}

// Cells by the name of their column.
export const rowsOf = ({header, rows}) => rows.map((cells) => Object.fromEntries(header.map((name, at) => [name, cells[at]])));

// What tells a row from the others: the cells of columns that differ.
export function namesOf({header, quantities}, rows) {
  const out = new Set(['status', 'message', ...quantities.map(({measured}) => measured)]);
  const telling = header.filter((column) => !out.has(column) && !column.startsWith('pred_') &&
    new Set(rows.map((row) => row[column])).size > 1).slice(0, kNameColumns);
  return rows.map((row, at) => telling.filter((column) => row[column] !== '')
    .map((column) => (isNumber(row[column]) ? `${headOf(column)} ${row[column]}` : row[column])).join(' · ') || `row ${at + 1}`);
}

// Quantities that at least one row has.
export const drawnQuantities = ({quantities}, rows) =>
  quantities.filter(({predicted}) => rows.some((row) => isNumber(row[predicted])));

const intervalOf = (row, {low, high}) =>
  (isNumber(row[low] ?? '') && isNumber(row[high] ?? '') ? [Number(row[low]), Number(row[high])] : null);

export function barsOption(theme, width, rows, names, quantity) {
  const measured = rows.map((row) => valueOf(row[quantity.measured]));
  return groupedBars(theme, width, {
    categories: names,
    format: (value) => number(value),
    series: [{
      name: 'predicted',
      values: rows.map((row) => valueOf(row[quantity.predicted])),
      intervals: rows.map((row) => intervalOf(row, quantity)),
    }],
    markers: [{name: 'measured', symbol: 'diamond', values: measured.map((value) => (value > 0 ? value : null))}],
  });
}

// Rows with a measurement, as the page of a validation draws them.
export function samplesOf(rows, names, quantity) {
  return rows.flatMap((row, at) => {
    const value = valueOf(row[quantity.measured]);
    const predicted = valueOf(row[quantity.predicted]);
    if (!(value > 0 && predicted > 0)) return [];
    return [{row: names[at], group: [], measured: quantity.name, value, predicted, interval80: intervalOf(row, quantity)}];
  });
}

// Every column, an interval in one beside its prediction; predictions are rounded, what was given is shown as it is.
export function columnsOf({header, quantities}, rows) {
  const ends = new Set(quantities.flatMap(({low, high}) => [low, high]));
  const shared = ['pred_lo_ms', 'pred_hi_ms']; // of the row's main time, which has its own columns
  return header.filter((name) => !ends.has(name) && !shared.includes(name)).flatMap((name) => {
    const cells = rows.map((row) => row[name]).filter((text) => text !== '');
    const isOfNumbers = cells.length > 0 && cells.every(isNumber);
    const isPredicted = name.startsWith('pred_');
    const value = isOfNumbers ? (row) => valueOf(row[name]) : (row) => row[name];
    const text = name.endsWith('_bytes') && isPredicted ? memory : (v) => number(v);
    const column = {
      title: headOf(name), value, optional: isPredicted || name === 'message',
      broad: true, ...(isOfNumbers ? {text: isPredicted ? text : (_, row) => row[name]} : {}),
    };
    const quantity = quantities.find(({predicted, low}) => predicted === name && low);
    if (!quantity) return [column];
    const unit = /\(.*\)$/.exec(headOf(name))?.[0] ?? '';
    return [column, {
      title: `80 % interval ${unit}`.trim(), optional: true,
      value: (row) => intervalOf(row, quantity)?.map((end) => number(end)).join(' to '),
    }];
  });
}

export const predictions = {
  id: 'predictions',
  title: 'Predictions',
  applies: ({data}) => data.predicted?.total > 0,
  draw(root, {data}) {
    const table = data.predicted;
    const rows = rowsOf(table);
    const names = namesOf(table, rows);
    const quantities = drawnQuantities(table, rows);
    const host = element('div');
    const show = (quantity) => {
      forgetFigures(host);
      const places = rows.flatMap((row, at) => (isNumber(row[quantity.predicted]) ? [at] : []));
      const shown = places.slice(0, kMaxBars);
      const part = shown.length < places.length ? `; the first ${shown.length} of ${counted(places.length, 'row')}` : '';
      const samples = samplesOf(rows, names, quantity);
      host.replaceChildren(
        figure(`Predicted ${nameOf(quantity.name)}${quantity.low ? '; the line is the 80 % interval' : ''}${part}`,
          (theme, width) => barsOption(theme, width, shown.map((at) => rows[at]), shown.map((at) => names[at]), quantity),
          {marks: shown.length}),
        ...(samples.length ? [figure(`Predicted against measured ${nameOf(quantity.name)}: on the dashed line they agree`,
          (theme, width) => scatterOption(theme, width, {samples, quantity: quantity.name}), {marks: samples.length})] : []));
    };
    if (quantities.length > 1) {
      root.append(element('div', {class: 'tools'},
        choice('Of', quantities.map((value) => ({label: nameOf(value.name), value})), quantities[0], show)));
    }
    if (quantities.length) show(quantities[0]);
    else root.append(paragraph('No row could be predicted.'));
    root.append(host, makeTable({name: 'Predictions', columns: columnsOf(table, rows), rows, fileName: 'predictions.csv'}).element);
  },
};
