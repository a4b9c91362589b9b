// Operators under the rates of the device that runs them.
import {figure} from '../charts.js';
import {paragraph} from '../dom.js';
import {number, percent, seconds, si} from '../format.js';
import {clipped, legendOf, valueAxis} from '../options.js';
import {operatorRows} from '../records.js';

const kRate = (v) => si(v, 'FLOP/s');

const floorPower = (value) => 10 ** Math.floor(Math.log10(value));
const ceilPower = (value) => 10 ** Math.ceil(Math.log10(value));

// Operators with work, as points {x: FLOP per byte, y: FLOP/s, onChip}; those that touch no device
// memory stand at the right edge. Transfers of an operator may run before and after it: it counts as
// no faster than the memory moves its bytes.
export function rooflinePoints(operators, bandwidth = Infinity) {
  const rows = operatorRows(operators).filter(({flops, duration_s}) => flops > 0 && duration_s > 0);
  const reading = rows.filter(({bytes}) => bytes > 0);
  const most = Math.max(1, ...reading.map(({flops, bytes}) => flops / bytes));
  const total = rows.reduce((all, {duration_s}) => all + duration_s, 0);
  return rows.map((row) => ({
    row,
    onChip: row.bytes === 0,
    x: row.bytes > 0 ? row.flops / row.bytes : 10 * ceilPower(most),
    y: row.flops / Math.max(row.duration_s, row.bytes / bandwidth),
    share: row.duration_s / total,
  }));
}

const fastestOf = ({bandwidths}) => Math.max(...bandwidths.map(({per_s}) => per_s));

// What a device of these rates can reach at `x` FLOP per byte.
export const reachable = (x, bandwidth, peak) => Math.min(peak, x * bandwidth);

export function rooflineOption(theme, width, machine, operators) {
  const points = rooflinePoints(operators, fastestOf(machine));
  const peak = Math.max(...machine.compute.map(({per_s}) => per_s));
  const xs = points.map(({x}) => x);
  const ridge = peak / Math.min(...machine.bandwidths.map(({per_s}) => per_s));
  const [left, right] = [floorPower(Math.min(0.1, ...xs)), ceilPower(Math.max(ridge * 10, ...xs))];
  const bottom = floorPower(Math.min(peak / 1e4, ...points.map(({y}) => y)));
  const roofs = machine.bandwidths.map(({name, per_s}, at) => ({
    name,
    type: 'line',
    symbol: 'none',
    silent: true,
    lineStyle: {width: 2, color: theme.series[at], type: at ? 'dashed' : 'solid'},
    itemStyle: {color: theme.series[at]},
    data: [[Math.max(left, bottom / per_s), Math.max(bottom, left * per_s)], [peak / per_s, peak], [right, peak]],
  }));
  const ceilings = machine.compute.map(({name, per_s}) => ({
    yAxis: per_s,
    label: {formatter: `${name}: ${kRate(per_s)}`, position: 'insideEndTop', color: theme.ink, fontSize: 12},
  }));
  const engines = [...new Set(points.map(({row}) => row.engine || 'other'))];
  const clouds = engines.map((engine, at) => ({
    name: `operators on ${engine}`,
    type: 'scatter',
    itemStyle: {color: theme.series[(at + 2) % theme.series.length], opacity: 0.85, borderColor: theme.paper},
    data: points.filter(({row}) => (row.engine || 'other') === engine).map(({row, x, y, share, onChip}) => ({
      value: [x, y],
      name: row.name,
      symbol: onChip ? 'triangle' : 'circle',
      symbolRotate: onChip ? -90 : 0,
      symbolSize: 7 + 33 * Math.sqrt(share),
      share,
      time: row.duration_s,
      critical: row.critical,
      onChip,
    })),
    tooltip: {
      formatter: ({data}) => [
        clipped(data.name, 60),
        kRate(data.value[1]),
        data.onChip ? 'no device memory traffic' : `${number(data.value[0], 3)} FLOP per byte`,
        `${seconds(data.time)}, ${percent(data.share)} of operator time`,
        `limited by ${data.critical || '–'}`,
      ].join('\n'),
    },
  }));
  clouds[0] && (clouds[0].markLine = {
    silent: true, symbol: 'none', lineStyle: {color: theme.muted, type: 'dotted'}, data: ceilings,
  });
  return {
    height: Math.min(520, Math.max(360, width * 0.5)),
    option: {
      legend: legendOf(theme),
      grid: {left: 14, right: 24, top: 44, bottom: 34, containLabel: true},
      xAxis: valueAxis(theme, (v) => number(v, 3), {
        splitNumber: 9, type: 'log', min: left, max: right, name: 'FLOP per byte of device memory', nameLocation: 'middle', nameGap: 30,
      }),
      yAxis: valueAxis(theme, kRate, {type: 'log', min: bottom, max: ceilPower(peak * 1.2)}),
      series: [...roofs, ...clouds],
    },
  };
}

// "One NeuronCore", but "16 cores".
export const partOf = ({part}) => (/^\d/.test(part) ? part : `One ${part}`);

export const roofline = {
  id: 'roofline',
  title: 'Roofline',
  ofRecord: true,
  applies: ({records}) => records.some(({operators}) => operators?.length),
  draw(root, {chosen}) {
    const {machine, operators = []} = chosen;
    if (!machine?.compute?.length || !machine.bandwidths?.length) {
      root.append(paragraph('This record does not state the rates of its device, so there is no roof to draw.'));
      return;
    }
    const points = rooflinePoints(operators, fastestOf(machine));
    if (points.length === 0) {
      root.append(paragraph('The operators of this prediction were left out, or none of them computes.'));
      return;
    }
    const sources = [...machine.compute, ...machine.bandwidths]
      .filter(({source}) => source)
      .map(({name, per_s, source}) => `${name}: ${machine.compute.some((c) => c.name === name)
        ? kRate(per_s) : si(per_s, 'B/s')} (${source})`);
    root.append(
      figure(`${partOf(machine)} of ${machine.device}: operators (size: time) under its published rates`,
        (theme, width) => rooflineOption(theme, width, machine, operators),
        {description: `Roofline of ${points.length} operators on ${partOf(machine)} of ${machine.device}`}),
      paragraph('Triangles at the right edge touch no device memory: what they read and write stays on the chip. ' +
        'Operators wait for each other, so that a point below the roof is not always at fault for it.'),
      paragraph(`Rates and their sources: ${sources.join('; ')}.`));
  },
};
