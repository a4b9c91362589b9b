// The study that a report shows: its file, and how to run it again.
import {element, paragraph, saveButton} from '../dom.js';

export const study = {
  id: 'study',
  title: 'Study',
  applies: ({data}) => Boolean(data.frame?.definition),
  draw(root, {data}) {
    const {definition, title} = data.frame;
    root.append(
      paragraph('Every point again, or the same with other values: save the file and run'),
      element('pre', {tabindex: '0'}, element('code', {}, 'foretell sweep study.yaml --store study.sqlite')),
      element('div', {class: 'tools'}, saveButton('Save study.yaml', 'study.yaml', 'text/yaml', () => definition)),
      element('pre', {tabindex: '0', 'aria-label': `The file of ${title}`}, element('code', {}, definition)));
  },
};
