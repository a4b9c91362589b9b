// Which parameters of the machine move a prediction: what `explain --sensitivity` found.
import {figure, forgetFigures} from '../charts.js';
import {tornadoOption} from './what_if.js';
import {choice, element, paragraph} from '../dom.js';
import {signedPercent} from '../format.js';
import {makeTable} from '../table.js';

const kBars = 16;
const kLeast = 5e-4; // a share that cannot be seen
const kUnseen = 5e-6;
const kMetrics = [{label: 'Latency', value: 'latency'}, {label: 'Throughput', value: 'throughput'}];

// Rows of a tornado: {name, base, low, high} with {value, share}, widest first.
export function sensitivityRows(rows, metric) {
  return rows.map((row) => {
    const ends = [['−10 %', 'less'], ['+10 %', 'more']]
      .map(([value, end]) => ({value, share: row[metric][end] - 1}))
      .sort((a, b) => a.share - b.share);
    return {name: row.path, base: row.value, low: ends[0], high: ends[1]};
  })
    .filter(({low, high}) => high.share - low.share > kLeast)
    .sort((a, b) => (b.high.share - b.low.share) - (a.high.share - a.low.share));
}

const columns = [
  {title: 'Parameter', value: ({path}) => path, broad: true},
  {title: 'Value', value: ({value}) => value},
  ...['latency', 'throughput'].flatMap((metric) => [['10 % less', 'less'], ['10 % more', 'more'], ['twice', 'twice']]
    .map(([words, end]) => ({title: `${metric === 'latency' ? 'Latency' : 'Throughput'}, ${words}`,
      value: (row) => row[metric][end] - 1, text: (value) => signedPercent(Math.abs(value) < kUnseen ? 0 : value)}))),
];

export const sensitivity = {
  id: 'sensitivity',
  title: 'What moves it',
  applies: ({data}) => data.sensitivity?.length > 0,
  draw(root, {data}) {
    const host = element('div');
    const show = (metric) => {
      const rows = sensitivityRows(data.sensitivity, metric).slice(0, kBars);
      forgetFigures(host);
      host.replaceChildren(rows.length
        ? figure(`How far ${metric} moves when one parameter alone is 10 % less or more`,
          (theme, width) => tornadoOption(theme, width, rows, metric === 'latency' ? 'min' : 'max'))
        : paragraph(`No parameter moves ${metric} by more than ${signedPercent(kLeast)}.`));
    };
    root.append(element('div', {class: 'tools'}, choice('Of', kMetrics, 'latency', show)), host,
      makeTable({name: 'Sensitivity', columns, rows: data.sensitivity, pageRows: 15, fileName: 'sensitivity.csv'}).element);
    show('latency');
  },
};
