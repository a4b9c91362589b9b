// What each device's memory holds.
import {figure} from '../charts.js';
import {paragraph} from '../dom.js';
import {memory as bytes, percent} from '../format.js';
import {stackedBars} from '../options.js';
import {labelsOf} from '../records.js';
import {makeTable} from '../table.js';

const kUses = [
  ['weights_bytes', 'weights'],
  ['kv_cache_bytes', 'KV cache'],
  ['activations_bytes', 'activations'],
  ['inputs_outputs_bytes', 'inputs and outputs'],
  ['runtime_bytes', 'runtime'],
];
const kBars = 16;

// One row per distinct use of memory: batches and data types differ, other clocks do not.
export function memoryRows(records) {
  const labels = labelsOf(records);
  const rows = new Map();
  records.forEach(({summary}, at) => {
    if (!summary.memory) return;
    const row = {capacity: summary.memory_capacity_bytes, used: summary.memory_used_bytes, ...summary.memory};
    const key = JSON.stringify(row);
    if (!rows.has(key)) rows.set(key, {...row, labels: []});
    rows.get(key).labels.push(labels[at]);
  });
  return [...rows.values()].map(({labels: [first, ...others], ...row}) =>
    ({...row, label: others.length ? `${first} and ${others.length} alike` : first}));
}

// A quarter of the capacity or so, in a whole power of two.
export const memoryStep = (most) => 2 ** Math.round(Math.log2(most / 4));

export function memoryOption(theme, width, rows) {
  const uses = kUses.filter(([field]) => rows.some((row) => row[field] > 0));
  const free = {name: 'free', values: rows.map(({capacity, used}) => Math.max(0, capacity - used)), colour: theme.line};
  return stackedBars(theme, width, {
    categories: rows.map(({label}) => label),
    series: [...uses.map(([field, name]) => ({name, values: rows.map((row) => row[field])})), free],
    format: bytes,
    axisLabel: {showMaxLabel: false},
    interval: memoryStep(Math.max(...rows.map(({capacity, used}) => Math.max(capacity, used)))),
  });
}

export const memory = {
  id: 'memory',
  title: 'Memory',
  applies: ({records}) => records.some(({summary}) => summary.memory),
  draw(root, {records}) {
    const rows = memoryRows(records);
    const shown = rows.slice(0, kBars);
    root.append(
      paragraph('Per device. Activations are counted as if none stayed on the chip.' +
        (rows.length > kBars ? ` The chart shows the first ${kBars} of ${rows.length}.` : '')),
      figure('Device memory by use, of what the device has',
        (theme, width) => memoryOption(theme, width, shown)),
      makeTable({
        name: 'Memory by use',
        rows,
        pageRows: 15, fileName: 'memory.csv',
        columns: [
          {title: 'Prediction', value: ({label}) => label, broad: true},
          ...kUses.map(([field, name]) => (
            {title: name[0].toUpperCase() + name.slice(1), unit: 'bytes', value: (row) => row[field], text: bytes})),
          {title: 'Used', unit: 'bytes', value: ({used}) => used, text: bytes},
          {title: 'Capacity', unit: 'bytes', value: ({capacity}) => capacity, text: bytes},
          {title: 'Share', value: ({used, capacity}) => (capacity ? used / capacity : null), text: percent},
        ],
      }).element);
  },
};
