// Fills the page from the records in its data element.
import {drawLatency, drawOperators, drawResources, drawThroughput, resizeCharts} from './charts.js';
import {memory, number, seconds, usd} from './format.js';
import {answerOf, bestOf, commandOf, labelsOf, operatorRows, parseRecords, resourceRows} from './records.js';

const kChartRows = 40;
const kOperatorRows = 20;
const kResourceRows = 20;

const at = (id) => document.getElementById(id);

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

const scenarioText = ({context}) =>
  Object.entries(context.scenario ?? {}).map(([field, value]) => `${field} ${value}`).join(', ');

// value: what is sorted by; text: what is shown, numbers stand right. `optional` columns are left out
// when no record has a value, `varying` ones when all records have the same (the context states it).
const kColumns = [
  {title: 'System', value: ({context}) => context.system},
  {title: 'Workload', value: ({context}) => context.workload, varying: true},
  {title: 'Scenario', value: scenarioText, varying: true},
  {title: 'Data type', value: ({context}) => context.dtype},
  {title: 'Overrides', value: ({context}) => (context.set ?? []).join(', '), optional: true},
  {title: 'Latency', value: ({summary}) => summary.latency_s, text: seconds},
  {title: 'First token', value: ({summary}) => summary.ttft_s, text: seconds, optional: true},
  {title: 'Per token', value: ({summary}) => summary.tpot_s, text: seconds, optional: true},
  {
    title: 'Throughput',
    value: ({summary}) => summary.throughput,
    text: (value, {summary}) => `${number(value)} ${summary.throughput_unit ?? ''}`,
  },
  {title: 'USD per million', value: ({summary}) => summary.cost_usd_per_million, text: usd},
  {
    title: 'Memory',
    value: ({summary}) => summary.memory_used_bytes,
    text: (value, {summary}) => `${memory(value)} of ${memory(summary.memory_capacity_bytes)}`,
  },
  {title: 'Bottleneck', value: ({summary}) => summary.bottleneck ?? ''},
];

const state = {records: [], shown: [], columns: [], chosen: null, sortedBy: null, descending: false};

function compareBy(column) {
  return (left, right) => {
    const a = column.value(left);
    const b = column.value(right);
    if (a == null || b == null) return Number(a == null) - Number(b == null); // unknown goes last
    const order = typeof a === 'string' ? a.localeCompare(b, 'en', {numeric: true}) : a - b;
    return state.descending ? -order : order;
  };
}

function sortBy(column) {
  state.descending = state.sortedBy === column ? !state.descending : false;
  state.sortedBy = column;
  state.shown = [...state.records].sort(compareBy(column));
  drawTable();
  drawOverview();
}

function choose(record) {
  state.chosen = record;
  drawTable();
  drawDetails();
}

function headRow() {
  const row = document.createElement('tr');
  for (const column of state.columns) {
    const cell = element('th', '', {scope: 'col'});
    if (column.text) cell.className = 'number';
    const sorted = state.sortedBy === column;
    if (sorted) cell.setAttribute('aria-sort', state.descending ? 'descending' : 'ascending');
    const button = element('button', column.title, {type: 'button'});
    button.addEventListener('click', () => sortBy(column));
    cell.append(button);
    row.append(cell);
  }
  return row;
}

function bodyRow(record) {
  const row = document.createElement('tr');
  if (record === state.chosen) row.setAttribute('aria-selected', 'true');
  row.tabIndex = 0;
  row.addEventListener('click', () => choose(record));
  row.addEventListener('keydown', ({key}) => {
    if (key === 'Enter') choose(record);
  });
  for (const {value, text} of state.columns) {
    const raw = value(record);
    row.append(element('td', text ? text(raw, record) : raw, text ? {class: 'number'} : {}));
  }
  return row;
}

function drawTable() {
  const head = document.createElement('thead');
  head.append(headRow());
  const body = document.createElement('tbody');
  body.append(...state.shown.map(bodyRow));
  at('table').replaceChildren(head, body);
}

function drawOverview() {
  const records = state.shown.slice(0, kChartRows);
  const units = [...new Set(state.records.map(({summary}) => summary.throughput_unit))];
  at('throughput-unit').textContent = units.length === 1 ? ` (${units[0]})` : '';
  drawThroughput(at('throughput'), records);
  drawLatency(at('latency'), records);
}

function drawContext({context}) {
  const rows = [
    ['System', context.system],
    ['Workload', context.workload],
    ['Scenario', scenarioText({context})],
    ['Version', `${context.version ?? '–'} (commit ${context.commit ?? 'unknown'})`],
    ['Factors', context.factors || '–'],
    ['Assumed values used', number(context.assumed_values)],
    ...(context.notes ?? []).map((note) => ['Note', note]),
  ];
  at('context').replaceChildren(...rows.flatMap(([name, value]) => [element('dt', name), element('dd', value)]));
}

function drawDetails() {
  const record = state.chosen;
  at('details-of').textContent =
    state.records.length > 1 ? labelsOf(state.records)[state.records.indexOf(record)] : record.context.dtype;
  drawResources(at('resources'), resourceRows(record.resources ?? []).slice(0, kResourceRows));
  const operators = operatorRows(record.operators ?? []);
  drawOperators(at('operators'), operators.slice(0, kOperatorRows));
  const left = operators.length - kOperatorRows;
  at('operators-note').textContent =
    `Operators overlap in time, so their sum may exceed the latency.${left > 0 ? ` ${left} shorter ones are not shown.` : ''}`;
  at('command').textContent = commandOf(record);
  drawContext(record);
}

function drawCharts() {
  drawOverview();
  drawDetails();
}

function start() {
  try {
    state.records = parseRecords(at('foretell-records').textContent);
  } catch (problem) {
    at('problem').textContent = `This report cannot be drawn: ${problem.message}`;
    at('problem').hidden = false;
    return;
  }
  at('answer').textContent = answerOf(state.records);
  if (state.records.length === 0) return;
  const valuesOf = ({value}) => new Set(state.records.map(value));
  const used = (column) => [...valuesOf(column)].some((value) => ![null, undefined, ''].includes(value));
  state.columns = kColumns.filter((column) =>
    (!column.optional || used(column)) && (!column.varying || valuesOf(column).size > 1));
  state.shown = [...state.records];
  state.chosen = bestOf(state.records);
  at('predictions').hidden = false;
  at('details').hidden = false;
  drawTable();
  drawCharts();
  window.addEventListener('resize', resizeCharts);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawCharts);
}

start();
