// What the chosen prediction rests on, and how to make it again.
import {element, paragraph, saveButton} from '../dom.js';
import {number} from '../format.js';
import {commandOf, scenarioText} from '../records.js';
import {makeTable} from '../table.js';

// "0.811238709677" is "0.8112"; units and short numbers stay.
export const shortened = (value) => String(value).replace(/\d*\.\d{5,}/, (digits) => String(Number(Number(digits).toPrecision(5))));

const columnsWith = (cited) => [
  {title: 'Parameter', value: ({path}) => path},
  {title: 'Value', value: ({value}) => shortened(value)},
  {title: 'Kind', value: ({kind}) => kind},
  {title: 'Source', value: ({source}) => source, optional: true, source: ({source}) => cited.get(idOf(source))},
  {title: 'Why', value: ({why}) => why, optional: true, wide: true},
];

const kSourceColumns = [
  {title: 'Id', value: ({id}) => id},
  {title: 'Publication', value: ({text}) => text, wide: true},
];

const idOf = (source) => (source ?? '').split(':')[0];

// What the ids of sources in a report stand for, by id.
export const citedIn = (data) => new Map((data.frame?.sources ?? []).map(({id, text}) => [id, text]));

// The ids that a record names.
export function sourcesOf({values = [], machine}) {
  const peaks = [...(machine?.compute ?? []), ...(machine?.bandwidths ?? [])];
  return new Set([...values, ...peaks].map(({source}) => idOf(source)).filter(Boolean));
}

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
  draw(root, {chosen, data}) {
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
      makeTable({name: 'Assumed values and factors', columns: columnsWith(citedIn(data)), rows: values, pageRows: 15,
        fileName: 'assumptions.csv'}).element);
    const used = sourcesOf(chosen);
    const publications = (data.frame?.sources ?? []).filter(({id}) => used.has(id));
    if (publications.length) {
      root.append(element('h3', {}, 'Sources'),
        makeTable({name: 'Sources', columns: kSourceColumns, rows: publications, fileName: 'sources.csv'}).element);
    }
  },
};
