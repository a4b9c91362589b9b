// A service over time: requests that run and wait, the batch, KV blocks, tokens.
import {figure, forgetFigures} from '../charts.js';
import {choice, element, paragraph} from '../dom.js';
import {number, percent, seconds} from '../format.js';
import {legendOf, valueAxis} from '../options.js';
import {labelsOfServices} from '../services.js';
import {makeTable} from '../table.js';

const kCharts = [
  {caption: 'Requests that run and that wait, and sequences per decode step', lines: [['running', 'running'], ['waiting', 'waiting'], ['batch', 'batch']],
    text: (v) => number(v, 3)},
  {caption: 'Share of the KV blocks in use', lines: [['KV blocks', 'kv_used_share']], text: percent},
  {caption: 'Output tokens per second', lines: [['tokens/s', 'output_tokens_per_s']], text: (v) => number(v, 3)},
];

// Each value holds until the next one: a step per second, or what a long timeline was thinned to.
export function serviceTimeOption(theme, width, timeline, {lines, text}) {
  const many = lines.length > 1;
  const last = timeline.at(-1);
  const until = last.second + (timeline.length > 1 ? last.second - timeline.at(-2).second : 1);
  return {
    height: many ? 300 : 210,
    option: {
      legend: many ? legendOf(theme) : {show: false},
      grid: {left: 8, right: 24, top: many ? 40 : 14, bottom: 8, containLabel: true},
      xAxis: valueAxis(theme, seconds, {min: 0, max: until, splitNumber: width < 500 ? 2 : 5,
        axisLabel: {color: theme.ink, formatter: (value) => `${number(value)} s`, hideOverlap: true, fontSize: 12}}),
      yAxis: valueAxis(theme, text, {min: 0}),
      series: lines.map(([name, field], at) => ({
        name,
        type: 'line',
        step: 'end',
        symbol: 'none',
        areaStyle: many ? undefined : {opacity: 0.18},
        lineStyle: {color: theme.series[at], width: 1.6},
        itemStyle: {color: theme.series[at]},
        data: [...timeline, {...last, second: until}].map((one) => [one.second, one[field] ?? 0]),
      })),
      tooltip: {trigger: 'axis', formatter: (points) => [`from ${number(points[0].value[0])} s`,
        ...points.map(({seriesName, value}) => `${seriesName}: ${text(value[1])}`)].join('\n')},
    },
  };
}

// What a chart shows, for those who do not see it.
export function timeWords(timeline, {lines, text}) {
  return lines.map(([name, field]) => {
    const values = timeline.map((one) => one[field] ?? 0);
    const most = Math.max(...values);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return `${name}: ${text(mean)} on average, at most ${text(most)} at ${number(timeline[values.indexOf(most)].second)} s`;
  }).join('; ');
}

export const serviceTime = {
  id: 'service-time',
  title: 'The service over time',
  applies: ({data}) => (data.services ?? []).some(({timeline}) => timeline?.length),
  draw(root, {data}) {
    const services = data.services.filter(({timeline}) => timeline?.length);
    const labels = labelsOfServices(services);
    const host = element('div');
    const show = ({timeline, summary}) => {
      forgetFigures(host);
      host.replaceChildren(
        paragraph(`${number(summary.requests)} requests in ${seconds(summary.duration_s)}, ${number(summary.steps)} steps, ` +
          `${number(summary.preemptions)} preemptions.`),
        ...kCharts.map((chart) => figure(chart.caption, (theme, width) => serviceTimeOption(theme, width, timeline, chart),
          {marks: timeline.length, description: `${chart.caption}. ${timeWords(timeline, chart)}`})),
        makeTable({
          name: 'The service over time', rows: timeline, fileName: 'timeline.csv', pageRows: 10,
          columns: [
            {title: 'From', unit: 's', value: ({second}) => second, text: (v) => `${number(v)} s`},
            ...kCharts.flatMap(({lines, text}) => lines.map(([name, field]) => (
              {title: name[0].toUpperCase() + name.slice(1), value: (row) => row[field] ?? 0, text, largestFirst: true}))),
          ],
        }).element);
    };
    if (services.length > 1) {
      const options = services.map((service, index) => ({label: [labels[index], service.load].filter(Boolean).join(' · '), value: service}));
      root.append(element('div', {class: 'tools'}, choice('Load:', options, services[0], show)));
    }
    root.append(host);
    show(services[0]);
  },
};
