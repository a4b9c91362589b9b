// The four charts. Colours come from the page's style sheet, so that light and dark agree with it.
import {BarChart, CustomChart} from 'echarts/charts';
import {GridComponent, LegendComponent, TooltipComponent} from 'echarts/components';
import * as echarts from 'echarts/core';
import {SVGRenderer} from 'echarts/renderers';

import {number, percent, seconds} from './format.js';
import {labelsOf} from './records.js';

echarts.use([BarChart, CustomChart, GridComponent, LegendComponent, TooltipComponent, SVGRenderer]);

const kRowHeight = 26;
const drawn = new Map();

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const clipped = (text, length = 44) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

// Horizontal bars: one row per category, series side by side or stacked.
function drawBars(element, {categories, series, axis, max, interval, legend, rows = categories.length}) {
  element.style.height = `${rows * kRowHeight + 90}px`;
  const text = colour('ink');
  const chart = drawn.get(element) ?? echarts.init(element, null, {renderer: 'svg'});
  drawn.set(element, chart);
  chart.resize();
  chart.setOption({
    animation: false,
    color: ['series-1', 'series-2', 'series-3', 'series-4', 'series-5', 'series-6'].map(colour),
    textStyle: {color: text, fontFamily: 'system-ui, sans-serif'},
    legend: {show: legend, top: 0, textStyle: {color: text}, itemGap: 20},
    grid: {left: 8, right: 70, top: legend ? 34 : 8, bottom: 8, containLabel: true},
    tooltip: {
      trigger: 'item',
      renderMode: 'richText', // names come from files: never as markup
      backgroundColor: colour('surface'),
      borderColor: colour('line'),
      textStyle: {color: text},
      confine: true,
    },
    xAxis: {
      type: 'value',
      min: 0,
      max,
      interval,
      splitNumber: 4,
      axisLabel: {color: text, formatter: axis, hideOverlap: true},
      splitLine: {lineStyle: {color: colour('line')}},
    },
    yAxis: {
      type: 'category',
      inverse: true,
      data: categories.map((name) => clipped(name)),
      axisLabel: {color: text, interval: 0},
      axisLine: {lineStyle: {color: colour('line')}},
      axisTick: {show: false},
    },
    series,
  }, true);
}

// The 80 % interval as a line with ends across its bar; each datum is [low, high, row].
function whiskers(data) {
  return {
    type: 'custom',
    silent: true,
    z: 10,
    encode: {x: [0, 1], y: 2},
    data,
    renderItem: (_, api) => {
      const low = api.coord([api.value(0), api.value(2)]);
      const high = api.coord([api.value(1), api.value(2)]);
      const style = {stroke: colour('ink'), lineWidth: 1.2};
      const line = (x1, y1, x2, y2) => ({type: 'line', shape: {x1, y1, x2, y2}, style});
      return {
        type: 'group',
        children: [
          line(low[0], low[1], high[0], high[1]),
          line(low[0], low[1] - 4, low[0], low[1] + 4),
          line(high[0], high[1] - 4, high[0], high[1] + 4),
        ],
      };
    },
  };
}

function perRecord(element, records, {value, format, interval = () => null}) {
  const systems = [...new Set(records.map(({context}) => context.system))];
  const labels = labelsOf(records, ['system']);
  const categories = [...new Set(labels)];
  const single = systems.length === 1 && categories.length === records.length;
  const series = systems.map((system) => ({
    name: system,
    type: 'bar',
    barMaxWidth: 16,
    data: categories.map((label) => {
      const found = records.findIndex(({context}, at) => context.system === system && labels[at] === label);
      return found < 0 ? null : value(records[found]);
    }),
    label: {show: true, position: 'right', color: colour('ink'), formatter: ({value: v}) => format(v)},
    tooltip: {formatter: ({dataIndex, value: v}) => `${categories[dataIndex]}\n${system}: ${format(v)}`},
  }));
  const intervals = single ? records.map(interval) : [];
  if (intervals.some(Boolean)) {
    series.push(whiskers(intervals.flatMap((range, row) => (range ? [[range[0], range[1], row]] : []))));
    series[0].label.formatter = ({dataIndex, value: v}) => (intervals[dataIndex] ? '' : format(v));
    series[0].tooltip.formatter = ({dataIndex, value: v}) => {
      const range = intervals[dataIndex];
      return `${categories[dataIndex]}: ${format(v)}${range ? ` (${format(range[0])} to ${format(range[1])})` : ''}`;
    };
    drawBars(element, {categories, series, axis: format, legend: false});
    return;
  }
  drawBars(element, {
    categories, series, axis: format, legend: systems.length > 1,
    rows: categories.length * Math.max(1, systems.length * 0.7),
  });
}

export function drawThroughput(element, records) {
  perRecord(element, records, {value: ({summary}) => summary.throughput, format: (v) => number(v)});
}

export function drawLatency(element, records) {
  perRecord(element, records, {
    value: ({summary}) => summary.latency_s,
    format: seconds,
    interval: ({summary}) => summary.interval80?.latency_s,
  });
}

export function drawResources(element, rows) {
  const part = (name, field) => ({
    name,
    type: 'bar',
    stack: 'share',
    barMaxWidth: 16,
    data: rows.map((row) => row[field]),
    tooltip: {formatter: ({dataIndex, value}) => `${rows[dataIndex].path}\n${name} ${percent(value)}`},
  });
  drawBars(element, {
    categories: rows.map(({path}) => path),
    series: [part('busy', 'busy'), part('stalled', 'stalled')],
    axis: (v) => percent(v),
    max: 1,
    interval: 0.25,
    legend: true,
  });
}

export function drawOperators(element, rows) {
  drawBars(element, {
    categories: rows.map(({name}) => name),
    series: [{
      type: 'bar',
      barMaxWidth: 16,
      data: rows.map(({duration_s}) => duration_s),
      label: {show: true, position: 'right', color: colour('ink'), formatter: ({value}) => seconds(value)},
      tooltip: {
        formatter: ({dataIndex}) => {
          const {name, op, engine, critical, duration_s} = rows[dataIndex];
          return `${name}\n${op} on ${engine || '–'}, ${seconds(duration_s)}, limited by ${critical || '–'}`;
        },
      },
    }],
    axis: seconds,
    legend: false,
  });
}

export function resizeCharts() {
  for (const chart of drawn.values()) chart.resize();
}
