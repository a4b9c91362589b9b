// What was asked for and could not be predicted.
import {element} from '../dom.js';

export const problems = {
  id: 'problems',
  title: 'Not predicted',
  applies: ({data}) => data.frame?.problems?.length > 0,
  draw(root, {data}) {
    root.append(element('ul', {}, ...data.frame.problems.map((problem) => element('li', {}, problem))));
  },
};
