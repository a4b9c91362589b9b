// Predictions against measurements.
import {figure, forgetFigures} from '../charts.js';
import {choice, element, paragraph} from '../dom.js';
import {number, percent, signedPercent} from '../format.js';
import {clipped, groupedBars, legendOf, logEnds, valueAxis} from '../options.js';
import {makeTable} from '../table.js';

const kMaxColours = 8;
const kMaxWhiskers = 400;

const classOf = ({group}) => (group.length ? group.join(', ') : 'all');

const kQuantities = {call_ms: 'call (ms)', ttft_ms: 'first token (ms)', tpot_ms: 'time per token (ms)',
  throughput: 'throughput (per second)', latency_us: 'latency (µs)', power_w: 'power (W)', watts: 'power (W)',
  wall_watts: 'power at the wall (W)', joules_per_token: 'energy (J per token)', joules_per_request: 'energy (J per request)'};
export const nameOf = (quantity) => kQuantities[quantity] ?? quantity;

// One sentence per measured quantity.
export function accuracyAnswer({overall}) {
  return overall.map(({measured, n, mape, bias}) =>
    `${nameOf(measured)}: ${percent(mape)} mean error over ${number(n)} measurements, bias ${signedPercent(bias)}`).join('; ');
}

export function scatterOption(theme, width, {samples, quantity}) {
  const shown = samples.filter(({measured}) => measured === quantity);
  const classes = [...new Set(shown.map(classOf))];
  const groups = classes.length <= kMaxColours ? classes : [null];
  const values = shown.flatMap(({value, predicted}) => [value, predicted]);
  const [low, high] = logEnds(values);
  const axis = (name, extra) => valueAxis(theme, (v) => number(v, 3), {
    type: 'log', min: low, max: high, name, nameLocation: 'middle', ...extra,
  });
  const bars = shown.filter(({interval80}) => interval80).slice(0, kMaxWhiskers)
    .map(({value, interval80}) => [value, interval80[0], interval80[1]]);
  return {
    height: Math.min(560, Math.max(340, width * 0.55)),
    option: {
      legend: legendOf(theme),
      grid: {left: 34, right: 24, top: 44, bottom: 40, containLabel: true},
      xAxis: axis(`measured ${nameOf(quantity)}`, {nameGap: 28}),
      yAxis: axis(`predicted ${nameOf(quantity)}`, {nameGap: 50}),
      series: [
        {
          name: 'predicted = measured', type: 'line', silent: true, symbol: 'none',
          lineStyle: {color: theme.muted, type: 'dashed', width: 1}, itemStyle: {color: theme.muted},
          data: [[low, low], [high, high]],
        },
        {
          name: '80 % interval', type: 'custom', silent: true, z: 1, itemStyle: {color: theme.muted},
          encode: {x: 0, y: [1, 2]}, data: bars,
          renderItem: (_, api) => {
            const [x, y1] = api.coord([api.value(0), api.value(1)]);
            const [, y2] = api.coord([api.value(0), api.value(2)]);
            return {type: 'line', shape: {x1: x, y1, x2: x, y2}, style: {stroke: theme.muted, lineWidth: 1, opacity: 0.6}};
          },
        },
        ...groups.map((name, at) => ({
          name: name ?? 'measurements',
          type: 'scatter',
          symbolSize: shown.length > 500 ? 5 : 8,
          itemStyle: {color: theme.series[at], opacity: 0.8},
          data: shown.filter((sample) => name === null || classOf(sample) === name)
            .map(({value, predicted, row}) => ({value: [value, predicted], name: row})),
        })),
      ],
      tooltip: {
        formatter: ({name, value}) => `${clipped(name, 70)}\nmeasured ${number(value[0])}, predicted ${number(value[1])}\n` +
          `error ${signedPercent(value[1] / value[0] - 1)}`,
      },
    },
  };
}

export function errorOption(theme, width, rows) {
  return groupedBars(theme, width, {
    categories: rows.map((row) => `${classOf(row)}: ${nameOf(row.measured)}`),
    format: percent,
    series: [
      {name: 'mean of the absolute error', values: rows.map(({mape}) => mape)},
      {name: '90th percentile', values: rows.map(({p90}) => p90)},
    ],
  });
}

const kRowColumns = [
  {title: 'Class', value: classOf},
  {title: 'Measured', value: ({measured}) => nameOf(measured)},
  {title: 'Rows', value: ({n}) => n, text: (v) => number(v, 9)},
  {title: 'Mean error', value: ({mape}) => mape, text: percent, largestFirst: true},
  {title: 'Median', value: ({median}) => median, text: percent, largestFirst: true},
  {title: '90th percentile', value: ({p90}) => p90, text: percent, largestFirst: true},
  {title: 'Bias', value: ({bias}) => bias, text: signedPercent, hint: 'Above zero: predicted too high'},
  {title: 'In 80 % interval', value: ({coverage80}) => coverage80, text: percent},
];

const kWorstColumns = [
  {title: 'Row', value: ({row}) => row, wide: true},
  {title: 'Measured', value: ({measured}) => nameOf(measured)},
  {title: 'Value', value: ({value}) => value, text: (v) => number(v)},
  {title: 'Predicted', value: ({predicted}) => predicted, text: (v) => number(v)},
  {title: 'Error', value: ({error}) => error, text: signedPercent, largestFirst: true},
];

export const accuracy = {
  id: 'accuracy',
  title: 'Accuracy',
  applies: ({data}) => Boolean(data.accuracy),
  draw(root, {data}) {
    const {overall, groups, worst, notes, samples = [], rows, failed} = data.accuracy;
    const quantities = overall.map(({measured}) => measured);
    root.append(paragraph(`${number(rows, 9)} rows, ${number(failed, 9)} without a prediction.`));
    if (samples.length) {
      const host = element('div');
      const show = (quantity) => {
        forgetFigures(host);
        host.replaceChildren(figure(`Predicted against measured ${nameOf(quantity)}: on the dashed line they agree`,
          (theme, width) => scatterOption(theme, width, {samples, quantity}), {marks: samples.length}));
      };
      if (quantities.length > 1) {
        root.append(element('div', {class: 'tools'},
          choice('Of', quantities.map((value) => ({label: nameOf(value), value})), quantities[0], show)));
      }
      root.append(host);
      show(quantities[0]);
    }
    const classes = groups.length ? groups : overall;
    root.append(
      figure('Error by class and quantity, shorter is better', (theme, width) => errorOption(theme, width, classes.slice(0, 30))),
      makeTable({name: 'Error by class', columns: kRowColumns, rows: [...overall, ...groups], fileName: 'accuracy.csv'}).element);
    if (worst?.length) {
      root.append(element('h3', {}, 'Largest errors'),
        makeTable({name: 'Largest errors', columns: kWorstColumns, rows: worst, fileName: 'largest_errors.csv'}).element);
    }
    root.append(...(notes ?? []).map((note) => paragraph(`Note: ${note}`)));
  },
};
