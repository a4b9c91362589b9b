// How long requests took: the share of them within each time, with the promise.
import {figure, forgetFigures} from '../charts.js';
import {choice, element, paragraph} from '../dom.js';
import {percent, seconds} from '../format.js';
import {clipped, legendOf, logEnds, valueAxis} from '../options.js';
import {curvesOf, evenly, labelsOfServices, nameOfTime, promisesOn, promiseWords, servicesOf, shareWithin} from '../services.js';
import {makeTable} from '../table.js';

const kMaxServices = 8;
const kShown = [0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 1];
const kFields = ['ttft_s', 'tpot_s', 'e2e_s'];
const kShareOf = {p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99};
const kWide = 10;
const kMargin = 1.05; // right of the longest time or promise

const timesOf = (service, field) => service.distributions?.[field] ?? [];

export function cdfOption(theme, width, {services, names, field, promises}) {
  const values = [...services.flatMap((service) => timesOf(service, field)), ...promises.map(({limit_s: limit}) => limit)]
    .filter((value) => value > 0);
  const wide = values.length > 1 && Math.max(...values) / Math.min(...values) > kWide;
  const [min, max] = wide ? logEnds(values) : [0, Math.max(...values) * kMargin];
  const many = services.length > 1;
  return {
    height: Math.min(380, Math.max(280, width * 0.4)),
    option: {
      legend: many ? legendOf(theme, {data: names}) : {show: false},
      grid: {left: 20, right: 30, top: many ? 44 : 16, bottom: 36, containLabel: true},
      xAxis: valueAxis(theme, seconds, {type: wide ? 'log' : 'value', min, max, name: nameOfTime(field), nameLocation: 'middle', nameGap: 28,
        splitNumber: width < 500 ? 2 : 4, axisLabel: {color: theme.ink, formatter: seconds, hideOverlap: true, fontSize: 12, showMaxLabel: wide}}),
      yAxis: valueAxis(theme, percent, {min: 0, max: 1, interval: 0.25}),
      series: services.map((service, at) => ({
        name: names[at],
        type: 'line',
        symbol: 'none',
        lineStyle: {color: theme.series[at % theme.series.length], width: 2},
        itemStyle: {color: theme.series[at % theme.series.length]},
        data: timesOf(service, field).map((time, place) => [wide ? Math.max(time, min) : time, service.distributions.shares[place]]),
        markLine: at > 0 ? undefined : {
          silent: true, symbol: 'none', lineStyle: {color: theme.series[3], type: 'dashed', width: 1.5},
          data: promises.flatMap((promise) => [
            {xAxis: promise.limit_s, label: {formatter: promiseWords(promise, seconds), position: 'insideEndTop', color: theme.ink}},
            ...(kShareOf[promise.statistic] ? [{yAxis: kShareOf[promise.statistic], label: {formatter: percent(kShareOf[promise.statistic]), position: 'insideStartBottom', color: theme.ink}}] : []),
          ]),
        },
        triggerLineEvent: true,
      })),
      tooltip: {trigger: 'axis', formatter: (points) => points.map(({seriesName, value}) =>
        `${clipped(seriesName, 50)}: ${percent(value[1])} within ${seconds(value[0])}`).join('\n')},
    },
  };
}

const at = (service, field, share) => timesOf(service, field)[service.distributions?.shares?.indexOf(share)] ?? null;

// What a chart shows, for those who do not see it.
export function cdfWords(services, names, field, promises) {
  const parts = services.map((service, index) => `${names[index]}: half within ${seconds(at(service, field, 0.5))}, 99 % within ` +
    `${seconds(at(service, field, 0.99))}`);
  const kept = promises.flatMap((promise) => services.map((service, index) =>
    `${promiseWords(promise, seconds)}, which ${percent(shareWithin(service, field, promise.limit_s) ?? 0)} of the requests of ${names[index]} keep`));
  return [...parts, ...kept].join('; ');
}

export const distribution = {
  id: 'distribution',
  title: 'How long requests take',
  applies: (report) => servicesOf(report).some(({distributions}) => distributions?.shares),
  draw(root, report) {
    const all = servicesOf(report).filter(({distributions}) => distributions?.shares);
    const labels = labelsOfServices(all);
    const nameOf = new Map(all.map((service, index) => [service, [labels[index], service.load].filter(Boolean).join(' · ')]));
    const fields = kFields.filter((one) => all.some((service) => timesOf(service, one).length));
    const host = element('div');
    const show = (chosen) => {
      const services = evenly(chosen, kMaxServices);
      const names = services.map((service) => nameOf.get(service));
      forgetFigures(host);
      host.replaceChildren(...fields.map((field) => {
        const promises = promisesOn(services, field);
        return figure(`${nameOfTime(field)}: share of the requests that take at most this long`,
          (theme, width) => cdfOption(theme, width, {services, names, field, promises}),
          {description: `${nameOfTime(field)}. ${cdfWords(services, names, field, promises)}`});
      }));
      if (chosen.length > services.length) host.append(paragraph(`${services.length} of ${chosen.length} loads are drawn; the table has all.`));
    };
    const curves = all.length > kMaxServices ? curvesOf(all) : [];
    if (curves.length > 1) {
      const options = curves.map(({name, services}) => ({label: name, value: services}));
      root.append(element('div', {class: 'tools'}, choice('Service:', options, curves[0].services, show)));
    }
    root.append(host);
    show(curves[0]?.services ?? all);
    const rows = all.flatMap((service) => fields.filter((field) => timesOf(service, field).length).map((field) => ({service, field})));
    root.append(makeTable({
      name: 'Times by share of the requests', rows, fileName: 'distributions.csv', pageRows: 15,
      columns: [
        {title: 'Service', value: ({service}) => nameOf.get(service), broad: true},
        {title: 'Time', value: ({field}) => nameOfTime(field)},
        ...kShown.map((share) => ({title: percent(share), unit: 's', value: ({service, field}) => at(service, field, share), text: seconds})),
        {title: 'Within the promise', optional: true, text: percent, value: ({service, field}) => {
          const [promise] = promisesOn([service], field);
          return promise ? shareWithin(service, field, promise.limit_s) : null;
        }},
      ],
    }).element);
  },
};
