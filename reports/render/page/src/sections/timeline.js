// When each operator of the chosen prediction ran, engine by engine.
import {figure} from '../charts.js';
import {element, paragraph, saveButton} from '../dom.js';
import {number, seconds} from '../format.js';
import {briefName, clipped, inkOn, legendOf, valueAxis} from '../options.js';
import {commandOf} from '../records.js';
import {partOf} from './roofline.js';

const kMicro = 1e6;
const kLaneHeight = 34;
const kRounding = 1e-6; // of the whole: the digits that a page keeps
const kMaxLanes = 40;

// Operators as they run once: of a generation, those of decode steps hold the time and work of all
// steps.
export function operatorsOnce({operators, generation = []}) {
  const steps = generation.reduce((sum, {tokens}) => sum + tokens, 0);
  if (steps <= 1) return operators;
  return operators.map((op) => (op.name.startsWith('decode.')
    ? {...op, duration_s: op.duration_s / steps, flops: op.flops / steps, bytes: op.bytes / steps} : op));
}

// Operators of an engine overlap: each gets the first lane that is free. {engine, lane, at} per
// operator, and the lanes in order: [{engine, lane}].
export function lanesOf(operators) {
  const engines = [...new Set(operators.map(({engine}) => engine || 'other'))].sort();
  const rounding = kRounding * Math.max(...operators.map(({start_s, duration_s}) => start_s + duration_s));
  const lanes = [];
  const place = new Map();
  for (const engine of engines) {
    const freeAt = [];
    const own = operators.filter((op) => (op.engine || 'other') === engine).sort((a, b) => a.start_s - b.start_s);
    for (const op of own) {
      let lane = freeAt.findIndex((end) => end <= op.start_s + rounding);
      if (lane < 0) lane = freeAt.push(0) - 1;
      freeAt[lane] = op.start_s + op.duration_s;
      place.set(op, lanes.length + lane);
    }
    freeAt.forEach((_, lane) => lanes.push({engine, lane}));
  }
  return {lanes, place};
}

// The Chrome trace-event format, which Perfetto and chrome://tracing open.
export function traceOf(record) {
  const operators = operatorsOnce(record);
  const {lanes, place} = lanesOf(operators);
  const {context} = record;
  const events = [
    {ph: 'M', name: 'process_name', pid: 1, args: {name: `${context.workload} on ${context.system}`}},
    ...lanes.map(({engine, lane}, tid) => (
      {ph: 'M', name: 'thread_name', pid: 1, tid: tid + 1, args: {name: lane ? `${engine} ${lane + 1}` : engine}})),
    ...operators.map((op) => ({
      ph: 'X', name: op.name, cat: op.op, pid: 1, tid: place.get(op) + 1, ts: op.start_s * kMicro, dur: op.duration_s * kMicro,
      args: {flops: op.flops, bytes: op.bytes, 'limited by': op.critical, ...(op.kernel ? {kernel: op.kernel} : {})},
    })),
  ];
  return JSON.stringify({displayTimeUnit: 'ns', traceEvents: events});
}

export function timelineOption(theme, width, operators) {
  const {lanes, place} = lanesOf(operators);
  const kinds = [...new Set(operators.map(({op}) => op))];
  const colourOf = (op) => theme.series[kinds.indexOf(op) % theme.series.length];
  const end = Math.max(...operators.map(({start_s, duration_s}) => start_s + duration_s));
  const begin = 100 * Math.min(...operators.map(({start_s}) => start_s)) / end; // in percent; the host may come first
  const zoomed = operators.length > 60 ? Math.min(100, begin + Math.max(2, 6000 / operators.length)) : 100;
  return {
    height: lanes.length * kLaneHeight + 130,
    option: {
      legend: legendOf(theme),
      grid: {left: 8, right: 24, top: 36, bottom: 76, containLabel: true},
      xAxis: valueAxis(theme, seconds, {
        min: 0, max: end, axisLabel: {color: theme.ink, formatter: seconds, fontSize: 12, showMaxLabel: false},
      }),
      yAxis: {
        type: 'category', inverse: true, data: lanes.map(({engine, lane}) => (lane ? `${engine} ${lane + 1}` : engine)),
        axisLabel: {color: theme.ink}, axisTick: {show: false}, axisLine: {lineStyle: {color: theme.line}},
        splitLine: {show: true, lineStyle: {color: theme.line}},
      },
      dataZoom: [
        {type: 'inside', filterMode: 'weakFilter', zoomOnMouseWheel: 'ctrl', moveOnMouseMove: true, start: zoomed < 100 ? begin : 0, end: zoomed},
        {type: 'slider', filterMode: 'weakFilter', bottom: 8, height: 26, start: zoomed < 100 ? begin : 0, end: zoomed, labelFormatter: seconds,
          textStyle: {color: theme.ink}, borderColor: theme.line, fillerColor: 'rgba(120,150,200,0.2)', showDataShadow: false},
      ],
      series: kinds.map((kind) => {
        const own = operators.filter(({op}) => op === kind);
        const fill = colourOf(kind);
        return {
          name: kind,
          type: 'custom',
          itemStyle: {color: fill},
          encode: {x: [0, 1], y: 2},
          data: own.map((op) => [op.start_s, op.start_s + op.duration_s, place.get(op)]),
          renderItem: (params, api) => {
            const [x, y] = api.coord([api.value(0), api.value(2)]);
            const [right] = api.coord([api.value(1), api.value(2)]);
            const high = api.size([0, 1])[1] * 0.7;
            const area = params.coordSys;
            const left = Math.max(x, area.x);
            const wide = Math.max(1, Math.min(right, area.x + area.width) - left);
            if (right < area.x || x > area.x + area.width) return null;
            const rect = {
              type: 'rect', shape: {x: left, y: y - high / 2, width: wide, height: high},
              style: {fill, stroke: theme.paper, lineWidth: wide > 3 ? 0.5 : 0},
            };
            if (wide < 46) return rect;
            return {type: 'group', children: [rect, {type: 'text', silent: true, style: {
              text: briefName(own[params.dataIndex].name, Math.floor((wide - 8) / 6.2)), x: left + 4, y,
              verticalAlign: 'middle', fill: inkOn(fill), fontSize: 11,
            }}]};
          },
          tooltip: {
            formatter: ({dataIndex}) => {
              const op = own[dataIndex];
              return `${clipped(op.name, 60)}\n${op.op} on ${op.engine || '–'}${op.kernel ? `, ${op.kernel}` : ''}\n` +
                `${seconds(op.start_s)} + ${seconds(op.duration_s)}\nlimited by ${op.critical || '–'}`;
            },
          },
        };
      }),
    },
  };
}

export const timeline = {
  id: 'timeline',
  title: 'Timeline',
  ofRecord: true,
  applies: ({records}) => records.some(({operators}) => operators?.length),
  draw(root, {chosen}) {
    const operators = operatorsOnce({...chosen, operators: chosen.operators ?? []});
    if (operators.length === 0) {
      root.append(paragraph('The operators of this prediction were left out to keep the file small.'));
      return;
    }
    const command = element('pre', {tabindex: '0'}, element('code', {}, `${commandOf(chosen)} --trace timeline.json`));
    if (lanesOf(operators).lanes.length > kMaxLanes) {
      root.append(paragraph('Each operator holds the time of all calls of its network together, so they cannot be drawn side ' +
        'by side. A timeline of everything that ran is written by:'), command);
      return;
    }
    root.append(
      paragraph(`${number(operators.length)} operators, on the engine that each keeps busy longest. Drag the bar below to ` +
        'zoom and move, or drag in the chart and turn the wheel with Ctrl held.'),
      figure(`${chosen.generation?.length ? 'The prefill and a decode step' : 'The call'} on ` +
        `${partOf(chosen.machine ?? {part: 'core'}).replace(/^One/, 'one')}, by engine`,
        (theme, width) => timelineOption(theme, width, operators), {marks: operators.length}),
      element('div', {class: 'tools'},
        saveButton('Save for Perfetto', 'timeline.json', 'application/json', () => traceOf(chosen))),
      paragraph('The file opens in ui.perfetto.dev and chrome://tracing. One with every instruction, transfer, wait and ' +
        'memory rate is written by:'),
      command);
  },
};
