// What pages of predictions share: sections one after the other, the chooser, light and dark.
import {forgetFigures, redrawCharts} from './charts.js';
import {choice, element} from './dom.js';
import {bestOf, labelsOf} from './records.js';

const kMaxChoices = 500;

const at = (id) => document.getElementById(id);

export class Report {
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

// Draws those of `sections` that apply to the report into the page.
export function drawSections(report, sections) {
  const shown = sections.filter((section) => section.applies(report));
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

export function listenToTheme() {
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

export function redrawWhenResized() {
  let pending;
  addEventListener('resize', () => {
    cancelAnimationFrame(pending);
    pending = requestAnimationFrame(() => redrawCharts());
  });
}
