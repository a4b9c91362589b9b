// Fills the page from the data in its data element: one section after the other, those that apply.
import {forgetFigures, redrawCharts} from './charts.js';
import {choice, element} from './dom.js';
import {bestOf, labelsOf, parseReport} from './records.js';
import {accuracy, accuracyAnswer} from './sections/accuracy.js';
import {assumptions} from './sections/assumptions.js';
import {changes} from './sections/changes.js';
import {claims} from './sections/claims.js';
import {contents} from './sections/contents.js';
import {cost} from './sections/cost.js';
import {dataTypes} from './sections/data_types.js';
import {memory} from './sections/memory.js';
import {problems} from './sections/problems.js';
import {roofline} from './sections/roofline.js';
import {study} from './sections/study.js';
import {sensitivity} from './sections/sensitivity.js';
import {summary} from './sections/summary.js';
import {time} from './sections/time.js';
import {timeline} from './sections/timeline.js';
import {whatIf} from './sections/what_if.js';

const kSections = [
  contents, claims, changes, accuracy, summary, problems, dataTypes, cost, memory, whatIf, sensitivity, study, roofline, time, timeline,
  assumptions,
];
const kMaxChoices = 500;

const at = (id) => document.getElementById(id);

class Report {
  constructor(data) {
    this.data = data;
    this.records = data.records;
    const shipped = data.records.filter(({context}) => !context.set?.length); // what exists, before what could
    this.chosen = data.records.length ? bestOf(shipped.length ? shipped : data.records) : null;
    this.listeners = [];
  }

  whenChosen(listener) {
    this.listeners.push(listener);
  }

  choose(record) {
    if (record === this.chosen) return;
    this.chosen = record;
    for (const listener of this.listeners) listener(record);
  }
}

// The first sentence and those after it.
function answerTo({data, records}) {
  const {answer = [], index = []} = data.frame ?? {};
  if (index.length) return [`${index.length} ${index.length === 1 ? 'report' : 'reports'}.`];
  if (answer.length) return answer;
  if (data.accuracy && records.length === 0) return [`Predictions against measurements. ${accuracyAnswer(data.accuracy)}.`];
  return ['There are no predictions in this report.'];
}

function frame({id, title}) {
  const body = element('div', {class: 'body'});
  return {body, section: element('section', {id, 'aria-labelledby': `${id}-title`}, element('h2', {id: `${id}-title`}, title), body)};
}

// The bar over the sections that are about one prediction.
function chooser(report) {
  const labels = labelsOf(report.records);
  const listed = report.records.slice(0, kMaxChoices);
  const bar = element('div', {id: 'chooser'});
  const draw = () => {
    const options = listed.map((record, index) => ({label: labels[index], value: record}));
    if (!listed.includes(report.chosen)) {
      options.push({label: labels[report.records.indexOf(report.chosen)], value: report.chosen});
    }
    bar.replaceChildren(choice('In detail:', options, report.chosen, (record) => report.choose(record)));
  };
  draw();
  report.whenChosen(draw);
  return bar;
}

function drawSections(report) {
  const shown = kSections.filter((section) => section.applies(report));
  const main = at('sections');
  let withChooser = report.records.length > 1;
  for (const section of shown) {
    if (section.ofRecord && withChooser) {
      main.append(chooser(report));
      withChooser = false;
    }
    const {body, section: box} = frame(section);
    main.append(box);
    section.draw(body, report);
    if (section.ofRecord) {
      report.whenChosen(() => {
        forgetFigures(body);
        body.replaceChildren();
        section.draw(body, report);
      });
    }
  }
  at('contents').append(...shown.map(({id, title}) =>
    element('li', {}, element('a', {href: `#${id}`}, title))));
}

function listenToTheme() {
  const root = document.documentElement;
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const button = at('theme');
  const isDark = () => (root.dataset.theme ?? (dark.matches ? 'dark' : 'light')) === 'dark';
  const show = () => {
    button.textContent = isDark() ? 'Light' : 'Dark';
    redrawCharts({themeChanged: true});
  };
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    show();
  });
  dark.addEventListener('change', show);
  let before;
  addEventListener('beforeprint', () => {
    before = root.dataset.theme;
    root.dataset.theme = 'light';
    root.classList.add('printing');
    redrawCharts({themeChanged: true, all: true});
  });
  addEventListener('afterprint', () => {
    root.classList.remove('printing');
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    show();
  });
  show();
}

function start() {
  let report;
  try {
    report = new Report(parseReport(at('foretell-data').textContent));
  } catch (problem) {
    at('problem').textContent = `This report cannot be drawn: ${problem.message}`;
    at('problem').hidden = false;
    return;
  }
  const {frame = {}, left_out: leftOut} = report.data;
  if (frame.title) {
    at('title').textContent = frame.title;
    document.title = `${frame.title} – Foretell`;
  }
  at('about').textContent = frame.about ?? '';
  const [answer, ...details] = answerTo(report);
  at('answer').textContent = answer;
  at('details').append(...details.map((sentence) => element('li', {}, sentence)));
  if (leftOut) {
    at('left-out').textContent = `Operators and resources of ${leftOut.toLocaleString('en-US')} predictions were ` +
      'left out to keep this file small.';
  }
  listenToTheme();
  drawSections(report);
  let pending;
  addEventListener('resize', () => {
    cancelAnimationFrame(pending);
    pending = requestAnimationFrame(() => redrawCharts());
  });
}

start();
