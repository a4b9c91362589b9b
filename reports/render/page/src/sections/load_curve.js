// Throughput against latency over loads: the curve of a service, with 80 % bands and promises.
import {figure, forgetFigures} from '../charts.js';
import {choice, element, paragraph} from '../dom.js';
import {number, seconds} from '../format.js';
import {clipped, legendOf, logEnds, valueAxis} from '../options.js';
import {bandOf, curvesOf, kLatencies, latencyOf, loadKey, loadOf, loadUnit, promisesOn, promiseWords, servicesOf} from '../services.js';
import {makeTable} from '../table.js';

const kMaxCurves = 8;
const kMargin = 1.05;
const kWide = 20; // ratio from which an axis is logarithmic

const kAcross = [
  {id: 'tokens', title: 'Output tokens/s', value: ({summary}) => summary.output_tokens_per_s, text: (v) => number(v, 3)},
  {id: 'load', title: 'Load', value: loadOf, text: (v) => number(v, 3)},
];

const isKnown = (value) => typeof value === 'number' && Number.isFinite(value);

// What is drawn of a curve: [{x, y, low, high, service}].
export function pointsOf({services}, across, latency) {
  return services
    .map((service) => {
      const y = latencyOf(service, latency.id);
      const [low, high] = bandOf(service, latency.id) ?? [y, y];
      return {x: across.value(service), y, low, high, service};
    })
    .filter(({x, y}) => isKnown(x) && isKnown(y));
}

// Above the line of the upper ends and back along the lower ones.
function band(theme, colour, points) {
  return {
    type: 'custom',
    silent: true,
    z: 1,
    encode: {x: 0, y: [1, 2]},
    data: points.map(({x, low, high}) => [x, low, high]),
    renderItem: (params, api) => {
      if (params.dataIndex > 0) return null;
      const upper = points.map(({x, high}) => api.coord([x, high]));
      const lower = points.map(({x, low}) => api.coord([x, low])).reverse();
      return {type: 'polygon', shape: {points: [...upper, ...lower]}, style: {fill: colour, opacity: 0.16}};
    },
  };
}

export function loadCurveOption(theme, width, {curves, across, latency, promises}) {
  const drawn = curves.map((curve) => ({...curve, points: pointsOf(curve, across, latency)})).filter(({points}) => points.length);
  const all = drawn.flatMap(({points}) => points);
  const axisOf = (values, text, extra) => {
    const known = values.filter((value) => value > 0);
    const wide = known.length === values.length && Math.max(...known) / Math.min(...known) > kWide;
    const [min, max] = wide ? logEnds(known) : [0, Math.max(...known) * kMargin];
    const axisLabel = {color: theme.ink, formatter: text, hideOverlap: true, fontSize: 12, showMaxLabel: wide};
    return {type: wide ? 'log' : 'value', min, max, axisLabel, ...extra};
  };
  const limits = promises.map(({limit_s: limit}) => limit);
  const series = drawn.flatMap(({name, points}, at) => {
    const colour = theme.series[at % theme.series.length];
    const line = {
      name,
      type: 'line',
      symbol: 'circle',
      symbolSize: 8,
      itemStyle: {color: colour},
      lineStyle: {color: colour, width: 2},
      data: points.map(({x, y, service}) => ({value: [x, y], name: service.load})),
      label: {show: drawn.length === 1, formatter: ({name: load}) => clipped(load, 18), position: 'top', color: theme.ink, fontSize: 11},
      labelLayout: {hideOverlap: true},
      markLine: at > 0 ? undefined : {
        silent: true, symbol: 'none', lineStyle: {color: theme.series[3], type: 'dashed', width: 1.5},
        data: promises.map((promise) => ({yAxis: promise.limit_s, label: {formatter: promiseWords(promise, seconds), position: 'insideStartTop', color: theme.ink}})),
      },
    };
    return points.length > 1 ? [band(theme, colour, points), line] : [line];
  });
  return {
    height: Math.min(480, Math.max(340, width * 0.5)),
    option: {
      legend: drawn.length > 1 ? legendOf(theme, {data: drawn.map(({name}) => name)}) : {show: false},
      grid: {left: 30, right: 30, top: drawn.length > 1 ? 44 : 26, bottom: 40, containLabel: true},
      xAxis: valueAxis(theme, across.text, axisOf(all.map(({x}) => x), across.text, {name: across.title, nameLocation: 'middle', nameGap: 30, splitNumber: width < 500 ? 2 : 4})),
      yAxis: valueAxis(theme, seconds, axisOf([...all.flatMap(({low, high, y}) => [low, high, y]), ...limits], seconds,
        {name: latency.title, nameLocation: 'middle', nameGap: 58})),
      series,
      tooltip: {formatter: ({name, value, seriesName}) => `${clipped(seriesName, 70)}\n${name}\n${across.title}: ${across.text(value[0])}\n${latency.title}: ${seconds(value[1])}`},
    },
  };
}

// What the chart shows, for those who do not see it.
export function curveWords(curves, across, latency, promises) {
  const parts = curves.map((curve) => {
    const points = pointsOf(curve, across, latency);
    if (points.length === 0) return '';
    const [first, last] = [points[0], points.at(-1)];
    return `${curve.name}: ${latency.title.toLowerCase()} from ${seconds(first.y)} at ${across.text(first.x)} to ` +
      `${seconds(last.y)} at ${across.text(last.x)} ${across.title.toLowerCase()}`;
  }).filter(Boolean);
  return [...parts, ...promises.map((promise) => promiseWords(promise, seconds))].join('; ');
}

export const loadCurve = {
  id: 'load-curve',
  title: 'Throughput against latency',
  applies: (report) => curvesOf(servicesOf(report)).some(({services}) => services.length > 1),
  draw(root, report) {
    const services = servicesOf(report);
    const every = curvesOf(services);
    const curves = every.slice(0, kMaxCurves);
    const unit = loadUnit(loadKey(services[0]));
    const ways = kAcross.map((way) => (way.id === 'load' && unit ? {...way, title: `Load (${unit})`} : way));
    const latencies = kLatencies.filter(({id}) => services.some((service) => latencyOf(service, id) != null));
    const state = {across: ways[0], latency: latencies[0]};
    const host = element('div');
    const update = () => {
      const [field, statistic] = state.latency.id.split('.');
      const promises = promisesOn(services, field, statistic);
      const shown = {curves, promises, ...state};
      forgetFigures(host);
      host.replaceChildren(figure(
        `${state.latency.title} against ${state.across.title.toLowerCase()}; the band holds four of five measurements`,
        (theme, width) => loadCurveOption(theme, width, shown),
        {marks: services.length, description: curveWords(curves, state.across, state.latency, promises)}));
    };
    const pick = (label, field, options) => choice(label, options.map((value) => ({label: value.title, value})), state[field], (value) => {
      state[field] = value;
      update();
    });
    root.append(element('div', {class: 'tools'}, pick('Up', 'latency', latencies), pick('Across', 'across', ways)), host);
    if (every.length > curves.length) root.append(paragraph(`The first ${curves.length} of ${every.length} curves are drawn.`));
    update();
    if ((report.data.services ?? []).length > 0) return; // their table stands above
    const names = new Map(every.flatMap(({name, services: own}) => own.map((service) => [service, name])));
    root.append(makeTable({
      name: 'Loads', rows: every.flatMap(({services: own}) => own), fileName: 'loads.csv', pageRows: 15,
      columns: [
        {title: 'Service', value: (service) => names.get(service), broad: true},
        {title: 'Load', value: loadOf, text: (_, {load}) => load},
        {title: 'Tokens/s', value: ({summary}) => summary.output_tokens_per_s, text: (v) => number(v), largestFirst: true},
        ...latencies.map(({id, title}) => ({title, unit: 's', value: (service) => latencyOf(service, id), text: seconds})),
      ],
    }).element);
  },
};
