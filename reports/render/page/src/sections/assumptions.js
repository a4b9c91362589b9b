// What the chosen prediction rests on, and how to make it again.
import {element, paragraph, saveButton} from '../dom.js';
import {number} from '../format.js';
import {commandOf, scenarioText} from '../records.js';
import {makeTable} from '../table.js';

const kColumns = [
  {title: 'Parameter', value: ({path}) => path},
  {title: 'Value', value: ({value}) => value},
  {title: 'Kind', value: ({kind}) => kind},
  {title: 'Source', value: ({source}) => source, optional: true},
  {title: 'Why', value: ({why}) => why, optional: true, wide: true},
];

export function contextRows({context}) {
  return [
    ['System', context.system],
    ['Workload', context.workload],
    ['Data type', context.dtype],
    ['Scenario', scenarioText({context})],
    ...(context.set ?? []).map((override) => ['Override', override]),
    ['Foretell', `${context.version ?? '–'} (commit ${context.commit || 'unknown'})`],
    ['Factors', context.factors || '–'],
    ['Assumed values used', number(context.assumed_values)],
    ['Seed', String(context.seed ?? 0)],
    ...(context.notes ?? []).map((note) => ['Note', note]),
  ];
}

export const assumptions = {
  id: 'assumptions',
  title: 'Assumptions',
  ofRecord: true,
  applies: ({records}) => records.length > 0,
  draw(root, {chosen}) {
    const command = commandOf(chosen);
    const pre = element('pre', {tabindex: '0'}, element('code', {}, command));
    const copy = element('button', {type: 'button', class: 'plain', onclick: () => {
      getSelection().selectAllChildren(pre);
      document.execCommand('copy');
      copy.textContent = 'Copied';
    }}, 'Copy');
    root.append(
      element('div', {class: 'context'},
        element('h3', {}, 'Make this prediction again'), pre,
        element('div', {class: 'tools'}, copy,
          saveButton('Save the record', 'record.json', 'application/json', () => JSON.stringify(chosen, null, 1))),
        element('dl', {}, ...contextRows(chosen).flatMap(([name, value]) =>
          [element('dt', {}, name), element('dd', {}, value)]))));
    const values = chosen.values ?? [];
    if (values.length === 0) {
      root.append(paragraph('This record does not list the values it rests on; `foretell show` does.'));
      return;
    }
    const count = (kind) => values.filter((value) => value.kind === kind).length;
    root.append(
      paragraph(`${count('assumed')} assumed values, ${count('fitted')} fitted factors and ` +
        `${count('override')} overrides; prices for their source. Everything else is published: ` +
        `foretell show ${chosen.context.system} lists it with its sources.`),
      makeTable({name: 'Assumed values and factors', columns: kColumns, rows: values, pageRows: 15, fileName: 'assumptions.csv'}).element);
  },
};
