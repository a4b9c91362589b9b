// Where the time of the chosen prediction goes: resources, operators, and what holds them up.
import {figure} from '../charts.js';
import {element, paragraph} from '../dom.js';
import {percent, seconds, si} from '../format.js';
import {briefName, groupedBars, stackedBars} from '../options.js';
import {criticalShares, operatorRows, resourceRows} from '../records.js';
import {makeTable} from '../table.js';

const kBars = 16;

export function resourceOption(theme, width, rows) {
  return stackedBars(theme, width, {
    categories: rows.map(({path}) => path),
    series: [
      {name: 'busy', values: rows.map(({busy}) => busy)},
      {name: 'stalled: has work, waits for another', values: rows.map(({stalled}) => stalled)},
    ].filter(({values}) => values.some((value) => value > 0)),
    format: percent,
    max: 1,
    interval: 0.25,
  });
}

export function operatorOption(theme, width, rows) {
  return groupedBars(theme, width, {
    categories: rows.map(({name}) => name),
    series: [{name: 'time', values: rows.map(({duration_s}) => duration_s)}],
    format: seconds,
    cut: briefName,
    note: (_, at) => `\n${rows[at].op} on ${rows[at].engine || '–'}, limited by ${rows[at].critical || '–'}`,
  });
}

export function criticalOption(theme, width, shares) {
  return groupedBars(theme, width, {
    categories: shares.map(({name}) => name),
    series: [{name: 'share', values: shares.map(({share}) => share)}],
    format: percent,
  });
}

const columns = (total) => [
  {title: 'Operator', value: ({name}) => name, broad: true},
  {title: 'Kind', value: ({op}) => op},
  {title: 'Engine', value: ({engine}) => engine},
  {title: 'Time', unit: 's', value: ({duration_s}) => duration_s, text: seconds, largestFirst: true},
  {title: 'Share', value: ({duration_s}) => duration_s / total, text: percent, largestFirst: true,
    hint: 'Of the time of all operators, which overlap'},
  {title: 'Work', unit: 'FLOP', value: ({flops}) => flops, text: (v) => si(v, 'FLOP'), largestFirst: true},
  {title: 'Memory traffic', unit: 'bytes', value: ({bytes}) => bytes, text: (v) => si(v, 'B'), largestFirst: true},
  {title: 'Reached', unit: 'FLOP/s', value: ({flops, duration_s}) => (duration_s > 0 ? flops / duration_s : null),
    text: (v) => si(v, 'FLOP/s'), largestFirst: true},
  {title: 'Limited by', value: ({critical}) => critical},
];

// What the operators of a record are those of.
export const detailOf = ({summary, generation}) => (generation?.length
  ? `Below is one call, ${seconds(summary.call_s)} long: its prefill and all its decode steps together.`
  : `Below is one call, ${seconds(summary.call_s)} long.`);

const overlaps = ({machine}) => !/GPU|core/.test(machine?.part ?? '') || machine.part === 'NeuronCore';

export const time = {
  id: 'time',
  title: 'Where the time goes',
  ofRecord: true,
  applies: ({records}) => records.some(({operators, resources}) => operators?.length || resources?.length),
  draw(root, {chosen}) {
    const resources = resourceRows(chosen.resources ?? []);
    const operators = operatorRows(chosen.operators ?? []);
    if (operators.length + resources.length === 0) {
      root.append(paragraph('The details of this prediction were left out to keep the file small; the command under ' +
        'Assumptions brings them back.'));
      return;
    }
    const critical = criticalShares(chosen.operators ?? []);
    const total = operators.reduce((all, {duration_s}) => all + duration_s, 0);
    const charts = element('div', {class: 'pair'});
    if (resources.length) {
      charts.append(figure('Share of the call that each resource is busy or stalled',
        (theme, width) => resourceOption(theme, width, resources.slice(0, kBars))));
    }
    if (critical.length) {
      charts.append(figure('What limits the operators, by their time',
        (theme, width) => criticalOption(theme, width, critical)));
    }
    const limit = chosen.summary.bottleneck ? `The call as a whole is bound by: ${chosen.summary.bottleneck}. ` : '';
    root.append(
      paragraph(limit + detailOf(chosen) + (overlaps(chosen) ? ' Operators overlap, so that their times may add up to more.' : '')),
      charts);
    if (operators.length) {
      root.append(figure('Time per operator, equal layers added up',
        (theme, width) => operatorOption(theme, width, operators.slice(0, kBars))));
      root.append(makeTable({name: 'Operators', columns: columns(total), rows: operators,
        pageRows: 15, fileName: 'operators.csv'}).element);
    }
  },
};
