// USD per million, on demand and reserved.
import {figure, forgetFigures} from '../charts.js';
import {choice, element, paragraph} from '../dom.js';
import {number, usd} from '../format.js';
import {groupedBars} from '../options.js';
import {labelsOf, workloadsOf} from '../records.js';
import {makeTable} from '../table.js';

const kBars = 16;
const kMain = 'on_demand';
const kSymbols = ['diamond', 'circle', 'triangle'];

const words = (option) =>
  ({on_demand: 'on demand', reserved_1y: 'reserved 1 year', reserved_3y: 'reserved 3 years'})[option] ??
  option.replaceAll('_', ' ');

export function optionsOf(records) {
  return [...new Set(records.flatMap(({summary}) => Object.keys(summary.costs_usd_per_million ?? {})))].sort();
}

const seriesOf = (records, option) => ({
  name: words(option),
  values: records.map(({summary}) => summary.costs_usd_per_million?.[option] ?? null),
});

export function costOption(theme, width, records) {
  const labels = labelsOf(records);
  return groupedBars(theme, width, {
    categories: labels,
    format: usd,
    series: [seriesOf(records, kMain)],
    markers: optionsOf(records).filter((option) => option !== kMain)
      .map((option, at) => ({...seriesOf(records, option), symbol: kSymbols[at % kSymbols.length]})),
  });
}

// USD per hour that the cost of an option came from.
export const hourly = ({summary}, option) => {
  const cost = summary.costs_usd_per_million?.[option];
  return cost == null ? null : cost * summary.throughput * 3600 / 1e6;
};

export const cost = {
  id: 'cost',
  title: 'Cost',
  applies: ({records}) => optionsOf(records).length > 0,
  draw(root, {records}) {
    const priced = records.filter(({summary}) => Object.keys(summary.costs_usd_per_million ?? {}).length);
    const options = optionsOf(priced);
    const labels = labelsOf(priced, ['system']);
    const labelOf = new Map(priced.map((record, at) => [record, labels[at]]));
    const workloads = workloadsOf(priced);
    const cheapest = [...priced].sort((a, b) =>
      workloads.indexOf(a.context.workload) - workloads.indexOf(b.context.workload) ||
      a.summary.cost_usd_per_million - b.summary.cost_usd_per_million);
    const chart = element('div');
    const show = (workload) => {
      const own = cheapest.filter(({context}) => context.workload === workload);
      const shown = own.slice(0, kBars);
      forgetFigures(chart);
      chart.replaceChildren(figure(`USD per million ${unit} on demand, shorter is better; marks are other ways to pay`,
        (theme, width) => costOption(theme, width, shown), {marks: shown.length * options.length}));
      if (own.length > kBars) chart.append(paragraph(`The chart shows the ${kBars} cheapest of ${own.length}.`));
    };
    const unit = (priced[0].summary.throughput_unit ?? '').split('/')[0];
    const source = ({values = []}, option) => values.find(({path}) => path === `system.price.${option}`);
    root.append(
      paragraph('Price of the whole instance over its throughput, fully used; cheapest first.' +
        (priced.length < records.length ? ' Systems without a price are left out.' : '')),
      ...(workloads.length > 1 ? [choice('Of', workloads.map((name) => ({label: name, value: name})), workloads[0], show)] : []),
      chart,
      makeTable({
        name: 'Cost by purchase option',
        rows: cheapest,
        pageRows: 15, fileName: 'cost.csv',
        columns: [
          {title: 'System', value: ({context}) => context.system},
          {title: 'Prediction', value: (record) => labelOf.get(record), broad: true},
          {title: 'Throughput', value: ({summary}) => summary.throughput,
            text: (v, {summary}) => `${number(v)} ${summary.throughput_unit}`, largestFirst: true},
          ...options.flatMap((option) => [
            {title: `USD per hour, ${words(option)}`, value: (record) => hourly(record, option), text: usd,
              source: (record) => {
                const found = source(record, option);
                return found ? `Source: ${found.source}` : '';
              }},
            {title: `USD per million, ${words(option)}`, value: ({summary}) => summary.costs_usd_per_million?.[option],
              text: usd},
          ]),
        ],
      }).element);
    show(workloads[0]);
  },
};
