// Throughput, latency and cost from INT8 to FP32, system by system.
import {figure, forgetFigures} from '../charts.js';
import {choice, element, paragraph} from '../dom.js';
import {number, seconds, usd} from '../format.js';
import {groupedBars} from '../options.js';
import {bestOf, narrowFirst, scenarioText} from '../records.js';

export const dtypesOf = (records) => narrowFirst(new Set(records.map(({context}) => context.dtype)));

// What has to be equal for two data types to be compared.
const kQuestion = ['batch', 'seq_len', 'input_len', 'output_len', 'image_size'];
const questionOf = (record) => {
  const scenario = record.context.scenario ?? {};
  return JSON.stringify([record.context.workload, ...kQuestion.map((field) => scenario[field]), record.context.set]);
};

export function questionsOf(records) {
  const questions = new Map();
  for (const record of records) {
    const key = questionOf(record);
    if (!questions.has(key)) questions.set(key, []);
    questions.get(key).push(record);
  }
  return [...questions.values()];
}

// One record per data type and system, by data type; of several, the one with the highest throughput.
export function rowsOf(records) {
  const systems = [...new Set(records.map(({context}) => context.system))];
  return dtypesOf(records).flatMap((dtype) => systems.flatMap((system) => {
    const found = records.filter(({context}) => context.system === system && context.dtype === dtype);
    return found.length ? [bestOf(found)] : [];
  }));
}

export function dtypeBars(theme, width, records, {value, interval = () => null, format}) {
  const rows = rowsOf(records).filter((record) => value(record) != null);
  const several = new Set(rows.map(({context}) => context.system)).size > 1;
  const dtypes = dtypesOf(rows);
  return groupedBars(theme, width, {
    categories: rows.map(({context}) => (several ? `${context.system} · ${context.dtype}` : context.dtype)),
    format,
    series: [{
      name: 'value',
      values: rows.map(value),
      intervals: rows.map(interval),
      colours: rows.map(({context}) => theme.series[dtypes.indexOf(context.dtype) % theme.series.length]),
    }],
  });
}

const kThirdOfPage = 24; // letters that names of bars have room for

const kCharts = [
  {
    caption: (unit) => `Throughput (${unit}), longer is better; the line is the 80 % interval`,
    value: ({summary}) => summary.throughput,
    interval: ({summary}) => summary.interval80?.throughput,
    format: (v) => number(v),
  },
  {
    caption: () => 'Latency of one request, shorter is better; the line is the 80 % interval',
    value: ({summary}) => summary.latency_s,
    interval: ({summary}) => summary.interval80?.latency_s,
    format: seconds,
  },
  {
    caption: (unit) => `Cost in USD per million ${unit.split('/')[0]}, on demand, shorter is better`,
    value: ({summary}) => summary.cost_usd_per_million,
    format: usd,
  },
];

export const dataTypes = {
  id: 'data-types',
  title: 'Data types',
  // The picture that answers: also of systems with one data type.
  applies: ({records}) => ['dtype', 'system'].some((field) => new Set(records.map(({context}) => context[field])).size > 1),
  draw(root, {records}) {
    const questions = questionsOf(records).sort((a, b) => dtypesOf(b).length - dtypesOf(a).length);
    const longest = Math.max(...records.map(({context}) => `${context.system} · ${context.dtype}`.length));
    const charts = element('div', {class: longest > kThirdOfPage ? 'pair' : 'pair three'});
    const show = (question) => {
      forgetFigures(charts);
      const unit = question[0].summary.throughput_unit ?? '';
      charts.replaceChildren(...kCharts
        .filter(({value}) => question.some((record) => value(record) != null))
        .map((chart) => figure(chart.caption(unit), (theme, width) => dtypeBars(theme, width, question, chart))));
    };
    if (questions.length > 1) {
      root.append(choice('Of', questions.slice(0, 200).map((question) => ({
        label: [question[0].context.workload, scenarioText(question[0], kQuestion), ...(question[0].context.set ?? [])]
          .filter(Boolean).join(', '),
        value: question,
      })), questions[0], show));
    }
    const promised = records.some(({context}) => context.dtype.endsWith('-datasheet'));
    root.append(charts);
    if (promised) {
      root.append(paragraph('Names that end in -datasheet stand for rates that a data sheet promises and that ' +
        'today’s software does not reach.'));
    }
    show(questions[0]);
  },
};
