// A study: which points no other beats, how pairs of parameters act, and what moves the result most.
import {figure, forgetFigures} from '../charts.js';
import {dimensionsOf, heatCells, metricsOf, paretoFront, tornadoRows} from '../dimensions.js';
import {choice, element, paragraph} from '../dom.js';
import {signedPercent} from '../format.js';
import {clipped, clippedApart, kNarrow, legendOf, logEnds, valueAxis} from '../options.js';
import {bestOf, labelsOf, workloadsOf} from '../records.js';
import {makeTable} from '../table.js';

const kMinPoints = 4;
const kMaxColours = 8;
const kMaxLines = 1500; // of parallel coordinates; more are one grey area
const kMaxHeatValues = 40;

const logIfWide = (values) => {
  const known = values.filter((value) => value > 0);
  return known.length > 1 && Math.max(...known) / Math.min(...known) > 30 ? 'log' : 'value';
};

export function paretoOption(theme, width, {records, labels, x, y, colour}) {
  const groups = colour && colour.values.length <= kMaxColours ? colour.values : [null];
  const front = paretoFront(records, x, y);
  const label = new Map(records.map((record, at) => [record, labels[at]]));
  const point = (record) => ({value: [x.value(record), y.value(record)], name: label.get(record)});
  const shown = (record) => x.value(record) != null && y.value(record) != null;
  const axis = (metric, extra) => {
    const values = records.map(metric.value);
    const type = logIfWide(values);
    const [min, max] = type === 'log' ? logEnds(values) : [];
    return valueAxis(theme, metric.text, {type, min, max, scale: true, name: metric.title, nameLocation: 'middle', ...extra});
  };
  return {
    height: Math.min(520, Math.max(340, width * 0.5)),
    option: {
      legend: legendOf(theme),
      grid: {left: 34, right: 24, top: 44, bottom: 40, containLabel: true},
      xAxis: axis(x, {nameGap: 30}),
      yAxis: axis(y, {nameGap: 66}),
      series: [
        ...groups.map((group, at) => ({
          name: group === null ? 'points' : String(group),
          type: 'scatter',
          progressive: 0, // all at once
          symbolSize: records.length > 500 ? 5 : 9,
          itemStyle: {color: theme.series[at], opacity: 0.75},
          data: records.filter((record) => shown(record) && (group === null || colour.of.get(record) === group)).map(point),
        })),
        {
          name: 'Pareto front',
          type: 'line',
          symbol: 'circle',
          symbolSize: 8,
          lineStyle: {color: theme.ink, width: 1.5},
          itemStyle: {color: theme.ink},
          data: front.map(point),
        },
      ],
      tooltip: {
        formatter: ({name, value}) => `${clipped(name, 80)}\n${x.title}: ${x.text(value[0])}\n${y.title}: ${y.text(value[1])}`,
      },
    },
  };
}

export function heatOption(theme, width, {records, columns, rows, metric}) {
  const cells = heatCells(records, columns, rows, metric);
  const values = cells.map(([, , value]) => value);
  const category = (dimension, extra) => ({
    type: 'category',
    data: dimension.values.map((value) => clipped(String(value), 20)),
    name: dimension.name,
    nameLocation: 'middle',
    nameTextStyle: {color: theme.muted},
    axisLabel: {color: theme.ink, hideOverlap: true},
    axisLine: {lineStyle: {color: theme.line}},
    axisTick: {show: false},
    ...extra,
  });
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const longest = Math.max(...columns.values.map((value) => Math.min(20, String(value).length)));
  const turned = longest * 7 * columns.values.length > width - 80;
  const isDark = (value) => {
    const share = high > low ? (value - low) / (high - low) : 0;
    return (metric.best === 'min' ? 1 - share : share) > 0.5;
  };
  const ends = [theme.surface, theme.series[0]];
  return {
    height: Math.min(600, 170 + (turned ? 56 : 0) + rows.values.length * 34),
    option: {
      grid: {left: 34, right: 20, top: 10, bottom: turned ? 140 : 84, containLabel: true},
      xAxis: category(columns, {nameGap: turned ? 84 : 28, axisLabel: {color: theme.ink, interval: 0, rotate: turned ? 35 : 0}}),
      yAxis: category(rows, {nameGap: 26 + 7 * Math.max(...rows.values.map((value) => Math.min(20, String(value).length)))}),
      visualMap: {
        min: low, max: high, orient: 'horizontal', left: 'center', bottom: 0,
        formatter: (value) => metric.text(value), textStyle: {color: theme.ink}, calculable: true,
        inRange: {color: metric.best === 'min' ? [...ends].reverse() : ends},
      },
      series: [{
        type: 'heatmap',
        data: cells.map((value) => ({value, label: {color: isDark(value[2]) ? theme.paper : theme.ink}})),
        label: {
          show: columns.values.length <= Math.max(3, width / 90),
          formatter: ({value}) => metric.text(value[2]),
        },
        itemStyle: {borderColor: theme.paper, borderWidth: 1},
      }],
      tooltip: {
        formatter: ({value}) => `${columns.name}: ${columns.values[value[0]]}\n${rows.name}: ${rows.values[value[1]]}\n` +
          `${metric.title}: ${metric.text(value[2])}`,
      },
    },
  };
}

export function parallelOption(theme, width, {records, dimensions, metrics}) {
  const shownDimensions = dimensions.slice(0, Math.max(2, Math.floor(width / 130) - metrics.length));
  const step = Math.ceil(records.length / kMaxLines);
  const lines = records.filter((_, at) => at % step === 0);
  const textStyle = {color: theme.ink, fontSize: 12};
  const labelStyle = {...textStyle, backgroundColor: theme.paper, padding: [1, 3], borderRadius: 3};
  const brief = (title) => clipped(title.replace(/ \(.*/, '').split('.').slice(-2).join('.'), Math.max(10, Math.floor(width / 62)));
  const axes = [
    ...shownDimensions.map((dimension) => ({
      name: brief(dimension.name), type: 'category', data: dimension.values.map((value) => clipped(String(value), 16)),
      value: (record) => clipped(String(dimension.of.get(record)), 16),
    })),
    ...metrics.map((metric) => ({
      name: brief(metric.title), type: 'value', scale: true, value: metric.value,
      axisLabel: {formatter: metric.text}, inverse: metric.best === 'min',
      nameLocation: metric.best === 'min' ? 'start' : 'end',
    })),
  ];
  const value = metrics[0].value;
  const values = lines.map(value);
  return {
    height: 380,
    option: {
      parallel: {left: width < kNarrow ? 40 : 64, right: 70, top: 40, bottom: 24, parallelAxisDefault: {nameTextStyle: textStyle}},
      parallelAxis: axes.map(({value: _, axisLabel, ...axis}, dim) => ({
        dim, ...axis,
        axisLine: {lineStyle: {color: theme.muted}},
        axisLabel: {...labelStyle, ...axisLabel},
        z: 3,
        areaSelectStyle: {color: theme.accent},
      })),
      visualMap: {
        show: false, min: Math.min(...values), max: Math.max(...values), dimension: shownDimensions.length,
        inRange: {color: [theme.series[7], theme.series[0], theme.series[1]]},
      },
      series: [{
        type: 'parallel',
        lineStyle: {width: 1, opacity: lines.length > 200 ? 0.25 : 0.6},
        inactiveOpacity: 0.02,
        data: lines.map((record) => axes.map((axis) => axis.value(record))),
      }],
      tooltip: {show: false},
    },
  };
}

// `best` of the metric, 'min' or 'max', says which end is the better one.
export function tornadoOption(theme, width, rows, best) {
  const bar = (end, name, colour) => ({
    name,
    type: 'bar',
    stack: 'all',
    barMaxWidth: 18,
    itemStyle: {color: colour},
    data: rows.map((row) => row[end].share),
    label: {
      show: true, position: end === 'low' ? 'left' : 'right', color: theme.ink, fontSize: 12,
      formatter: ({dataIndex, value}) => (value === 0 ? '' : clipped(String(rows[dataIndex][end].value), 16)),
    },
    tooltip: {
      formatter: ({dataIndex, value}) => `${rows[dataIndex].name}: ${rows[dataIndex].base} → ${rows[dataIndex][end].value}\n` +
        signedPercent(value),
    },
  });
  const shares = rows.flatMap(({low, high}) => [low.share, high.share]);
  const [least, most] = [Math.min(0, ...shares), Math.max(0, ...shares)];
  const room = (width < kNarrow ? 0.5 : 0.2) * (most - least); // for the values at the ends
  return {
    height: rows.length * 34 + 90,
    option: {
      legend: legendOf(theme),
      grid: {left: 8, right: 30, top: 36, bottom: 8, containLabel: true},
      xAxis: valueAxis(theme, signedPercent, {
        min: least - room, max: most + room,
        axisLabel: {color: theme.ink, formatter: signedPercent, fontSize: 12, showMinLabel: false, showMaxLabel: false},
      }),
      yAxis: {
        type: 'category', inverse: true, data: clippedApart(rows.map(({name}) => name), 30),
        axisLabel: {color: theme.ink, interval: 0}, axisTick: {show: false}, axisLine: {onZero: false, lineStyle: {color: theme.line}},
      },
      series: best === 'min'
        ? [bar('low', 'better', theme.series[0]), bar('high', 'worse', theme.series[1])]
        : [bar('low', 'worse', theme.series[1]), bar('high', 'better', theme.series[0])],
    },
  };
}

// A chart that its choices draw anew.
function chosenChart(choices, state, draw) {
  const host = element('div');
  const update = () => {
    forgetFigures(host);
    host.replaceChildren(...draw(state));
  };
  const bar = element('div', {class: 'tools'}, ...choices.map(({label, field, options}) =>
    choice(label, options, state[field], (value) => {
      state[field] = value;
      update();
    })));
  update();
  return {element: element('div', {}, bar, host), update};
}

const named = (list) => list.map((value) => ({label: value.title ?? value.name, value}));

const kMetricOf = {call: 'latency'};

// The first two objectives of a study that are results, else latency and throughput.
export function axesOf(metrics, objectives = []) {
  const named = objectives.map(({name}) => metrics.find(({id}) => id === (kMetricOf[name] ?? name))).filter(Boolean);
  const others = ['latency', 'throughput'].map((name) => metrics.find(({id}) => id === name)).filter(Boolean);
  const [x, y] = [...new Set([...named, ...others, ...metrics])];
  return {x, y: y ?? x};
}

function pareto(records, metrics, dimensions, objectives) {
  const labels = labelsOf(records);
  const colours = dimensions.filter(({values}) => values.length <= kMaxColours);
  const {x, y} = axesOf(metrics, objectives);
  return chosenChart([
    {label: 'Across', field: 'x', options: named(metrics)},
    {label: 'Up', field: 'y', options: named(metrics)},
    ...(colours.length ? [{label: 'Colour', field: 'colour', options: named(colours)}] : []),
  ], {x, y, colour: colours.find(({name}) => name === 'data type') ?? colours[0]}, (state) => {
    const front = paretoFront(records, state.x, state.y);
    const at = new Map(records.map((record, index) => [record, index]));
    return [
      figure(`${state.y.title} against ${state.x.title.toLowerCase()}; on the line are the points that no other beats in both`,
        (theme, width) => paretoOption(theme, width, {records, labels, ...state}), {marks: records.length}),
      makeTable({
        name: 'Pareto front', rows: front, fileName: 'pareto.csv',
        columns: [
          {title: 'On the front', value: (record) => labels[at.get(record)], wide: true},
          ...[state.x, state.y].filter((metric, index, all) => all.indexOf(metric) === index)
            .map((metric) => ({title: metric.title, value: metric.value, text: metric.text})),
        ],
      }).element,
    ];
  });
}

function heat(records, metrics, dimensions) {
  const usable = dimensions.filter(({values}) => values.length <= kMaxHeatValues);
  if (usable.length < 2) return null;
  return chosenChart([
    {label: 'Across', field: 'columns', options: named(usable)},
    {label: 'Up', field: 'rows', options: named(usable)},
    {label: 'Of', field: 'metric', options: named(metrics)},
  ], {columns: usable[0], rows: usable[1], metric: metrics[0]}, (state) => [
    figure(`${state.metric.title} by ${state.columns.name} and ${state.rows.name}: the best over everything else; the stronger the colour, the better`,
      (theme, width) => heatOption(theme, width, {records, ...state})),
  ]);
}

function tornado(report, records, metrics, dimensions) {
  const labels = labelsOf(records);
  const made = chosenChart([{label: 'Of', field: 'metric', options: named(metrics)}], {metric: metrics[0]}, ({metric}) => {
    const chosen = records.includes(report.chosen) ? report.chosen : bestOf(records);
    const rows = tornadoRows(records, dimensions, metric, chosen);
    const base = labels[records.indexOf(chosen)];
    if (rows.length === 0) return [paragraph(`No other point differs from ${base} in one parameter alone.`)];
    return [figure(`How far ${metric.title.toLowerCase()} moves when one parameter alone changes, from ${base}`,
      (theme, width) => tornadoOption(theme, width, rows, metric.best))];
  });
  report.whenChosen(() => made.element.isConnected && made.update());
  return made;
}

// The charts of the points of one network.
function chartsOf(report, records) {
  const {keys, objectives} = report.data.frame ?? {};
  const dimensions = dimensionsOf(records, keys);
  const metrics = metricsOf(report.records, objectives);
  if (records.length < kMinPoints || dimensions.length === 0) return [paragraph('Its points do not differ.')];
  const charts = [
    paragraph(`${records.length.toLocaleString('en-US')} points that differ in ` +
      `${dimensions.map(({name, values}) => `${name} (${values.length})`).join(', ')}.`),
    pareto(records, metrics, dimensions, objectives).element];
  if (dimensions.length < 2) return charts;
  for (const made of [heat(records, metrics, dimensions), tornado(report, records, metrics, dimensions)]) {
    if (made) charts.push(made.element);
  }
  charts.push(figure('Every point as a line: parameters, then results with the better end up; drag along an axis to choose',
    (theme, width) => parallelOption(theme, width, {records, dimensions, metrics: metrics.slice(0, 3)}),
    {marks: records.length}));
  return charts;
}

export const whatIf = {
  id: 'what-if',
  title: 'What if',
  applies: ({records}) => records.length >= kMinPoints && dimensionsOf(records).length > 0,
  draw(root, report) {
    const {records} = report;
    const workloads = workloadsOf(records);
    const host = element('div');
    const show = (workload) => {
      forgetFigures(host);
      host.replaceChildren(...chartsOf(report, records.filter(({context}) => context.workload === workload)));
    };
    if (workloads.length > 1) {
      root.append(choice('Of', workloads.map((name) => ({label: name, value: name})), workloads[0], show));
    }
    root.append(host);
    show(workloads[0]);
  },
};
