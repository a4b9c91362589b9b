// The index of a folder of reports.
import {number} from '../format.js';
import {makeTable} from '../table.js';

const kColumns = [
  {title: 'Report', value: ({title}) => title, link: ({file}) => file, wide: true},
  {title: 'Predictions', value: ({records}) => records, text: (v) => number(v, 9), largestFirst: true},
  {title: 'Claims', value: ({claims}) => claims, optional: true},
  {title: 'Missing', value: ({problem}) => problem, optional: true, wide: true},
];

export const contents = {
  id: 'reports',
  title: 'Reports',
  applies: ({data}) => data.frame?.index?.length > 0,
  draw(root, {data}) {
    root.append(makeTable({name: 'Reports', columns: kColumns, rows: data.frame.index, fileName: 'reports.csv'}).element);
  },
};
