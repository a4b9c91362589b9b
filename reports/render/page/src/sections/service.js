// Services side by side: the table that the sections below it draw.
import {element, paragraph} from '../dom.js';
import {number, percent, seconds, usd} from '../format.js';
import {labelsOfServices, loadOf, servicesOf} from '../services.js';
import {makeTable} from '../table.js';

const range = (service, field, format) => {
  const found = service.summary.interval80?.[field];
  return found ? `80 % interval: ${format(found[0])} to ${format(found[1])}` : '';
};

const time = (title, field, statistic) => ({
  title, unit: 's', optional: true,
  value: ({summary}) => summary[field]?.[statistic],
  text: seconds,
  source: (service) => range(service, `${field}.${statistic}`, seconds),
});

const promise = ({summary}) => (summary.keeps_slo == null ? '' : summary.keeps_slo ? 'kept' : 'broken');

export const service = {
  id: 'service',
  title: 'Services',
  applies: ({data}) => (data.services ?? []).length > 0,
  draw(root, report) {
    const services = servicesOf(report);
    const labels = new Map(labelsOfServices(services).map((label, at) => [services[at], label]));
    const one = services[0].context;
    const {requests: _, ...scenario} = one.scenario;
    const said = Object.entries(scenario).map(([key, value]) => `${key.replaceAll('_', ' ')} ${value}`).join(', ');
    root.append(
      paragraph(services.length === 1 ? `${one.engine.split('@')[0]}, ${one.dtype}: ${said}.`
        : 'A heading sorts. Pointing at an underlined number, or touching it, shows its 80 % interval.'),
      makeTable({
        name: 'Services', rows: services, fileName: 'services.csv',
        columns: [
          {title: 'Load', value: loadOf, text: (_value, {load}) => load},
          {title: 'Service', value: (row) => labels.get(row), optional: true, broad: true},
          {title: 'Tokens/s', value: ({summary}) => summary.output_tokens_per_s, text: (v) => number(v), largestFirst: true,
            source: (row) => range(row, 'output_tokens_per_s', number)},
          {title: 'Requests/s', value: ({summary}) => summary.requests_per_s, text: (v) => number(v), optional: true},
          time('First token', 'ttft_s', 'mean'), time('… 99 %', 'ttft_s', 'p99'),
          time('Per token', 'tpot_s', 'mean'), time('… 99 %', 'tpot_s', 'p99'),
          time('Whole answer', 'e2e_s', 'mean'), time('… 99 %', 'e2e_s', 'p99'),
          {title: 'Batch', value: ({summary}) => summary.batch_mean, text: (v) => number(v, 3), optional: true, hint: 'Sequences per decode step'},
          {title: 'KV used', value: ({summary}) => summary.kv_used_share, text: percent, optional: true},
          {title: 'USD per million', value: ({summary}) => summary.cost_usd_per_million, text: usd, optional: true,
            hint: 'Of output tokens, at the on-demand price', source: (row) => range(row, 'cost_usd_per_million', usd)},
          {title: 'J per token', value: ({summary}) => summary.joules_per_token, text: (v) => number(v, 3), optional: true},
          {title: 'Promise', value: promise, optional: true, source: ({summary}) => summary.slo ?? ''},
          {title: 'Goodput/s', value: ({summary}) => summary.goodput_per_s, text: (v) => number(v), optional: true,
            hint: 'Answers per second that keep every promise'},
          {title: 'Waits for', value: ({summary}) => summary.binds ?? '', optional: true, broad: true},
        ],
      }).element);
    const notes = [...new Set(services.flatMap(({context}) => context.notes ?? []))];
    if (notes.length) root.append(element('ul', {}, ...notes.map((note) => element('li', {}, note))));
  },
};
