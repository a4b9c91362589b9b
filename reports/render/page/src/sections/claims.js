// What somebody claims, against what is predicted.
import {paragraph} from '../dom.js';
import {makeTable} from '../table.js';

const kColumns = [
  {title: 'Claim', value: ({says}) => says, wide: true},
  {title: 'Verdict', value: ({verdict}) => verdict},
  {title: 'Predicted', value: ({predicted}) => predicted || '–'},
  {title: 'From', value: ({why}) => why, wide: true},
  {title: 'Source', value: ({source}) => source, optional: true},
];

export function claimsAnswer(list) {
  const count = (verdict) => list.filter((claim) => claim.verdict === verdict).length;
  return `Of ${list.length} claims, predictions support ${count('supported')}, contradict ${count('not supported')}, ` +
    `and cannot judge ${count('cannot be judged')}.`;
}

export const claims = {
  id: 'claims',
  title: 'Claims',
  applies: ({data}) => data.frame?.claims?.length > 0,
  draw(root, {data}) {
    root.append(
      makeTable({name: 'Claims', columns: kColumns, rows: data.frame.claims, fileName: 'claims.csv'}).element,
      paragraph('A claim is supported when the best prediction that it speaks of reaches it.'));
  },
};
