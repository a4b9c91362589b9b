// What moved since an earlier result.
import {paragraph} from '../dom.js';
import {signedPercent} from '../format.js';
import {makeTable} from '../table.js';

const kColumns = [
  {title: 'Prediction', value: ({record}) => record, wide: true},
  {title: 'Field', value: ({field}) => field},
  {title: 'Before', value: ({before}) => before},
  {title: 'After', value: ({after}) => after},
  {title: 'Change', value: ({relative}) => relative || null, text: signedPercent},
];

export const changes = {
  id: 'changes',
  title: 'Changes',
  applies: ({data}) => Boolean(data.frame?.compared_with),
  draw(root, {data}) {
    const {changes: rows, compared_with: before} = data.frame;
    root.append(paragraph(rows.length
      ? `Numbers that moved by more than their tolerance, compared with ${before}:`
      : `No number moved by more than its tolerance, compared with ${before}.`));
    if (rows.length) root.append(makeTable({name: 'Changes', columns: kColumns, rows, fileName: 'changes.csv'}).element);
  },
};
