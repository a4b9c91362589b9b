// What is claimed, against what is predicted.
import {paragraph} from '../dom.js';
import {makeTable} from '../table.js';
import {citedIn} from './assumptions.js';

const columnsWith = (cited) => [
  {title: 'Claim', value: ({says}) => says, wide: true},
  {title: 'Verdict', value: ({verdict, close}) => `${verdict}${close ? ', too close to call' : ''}`, wide: true},
  {title: 'Predicted', value: ({predicted}) => predicted || '–'},
  {title: 'Needs', value: ({needs}) => needs, optional: true},
  {title: 'From', value: ({why, note}) => (note ? `${why}. ${note}` : why), wide: true},
  {title: 'Source', value: ({source}) => source, optional: true, source: ({source}) => cited.get(source)},
];

export const claims = {
  id: 'claims',
  title: 'Claims',
  applies: ({data}) => data.frame?.claims?.length > 0,
  draw(root, {data}) {
    root.append(
      makeTable({name: 'Claims', columns: columnsWith(citedIn(data)), rows: data.frame.claims, fileName: 'claims.csv'}).element,
      paragraph('A claim is supported when the best prediction that it speaks of reaches it. Where the limit lies inside the 80 % ' +
        'interval of the prediction, a measurement may well say the opposite.'));
  },
};
