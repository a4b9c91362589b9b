// The page of `foretell explore`: asks the program that serves it, and draws what it answers with the
// sections of reports.
import {forgetFigures} from './charts.js';
import {choice, element, saveButton} from './dom.js';
import {
  commandLine, commandOfMode, firstState, kInputs, kModes, kStops, optionsOf, positionOf, slidersOf, studyOf, valueAt,
} from './explore_state.js';
import {memory as memoryText, number, seconds, si, usd} from './format.js';
import {parseReport} from './records.js';
import {assumptions} from './sections/assumptions.js';
import {cost} from './sections/cost.js';
import {memory} from './sections/memory.js';
import {roofline} from './sections/roofline.js';
import {summary} from './sections/summary.js';
import {time} from './sections/time.js';
import {timeline} from './sections/timeline.js';
import {drawSections, listenToTheme, redrawWhenResized, Report} from './view.js';

const kSections = [summary, time, timeline, roofline, memory, cost, assumptions];
const kPause = 40; // ms after the last change
const kMaxPins = 4;

const at = (id) => document.getElementById(id);
const start = JSON.parse(at('foretell-data').textContent);

const state = firstState(start);
const pins = []; // {record, label}
let current = null; // the last answer: {record, state}
let sliders = []; // {path, published}

// Asks the program; a question that is outdated is taken back, which ends its work there.
function asker() {
  let running = null;
  return async (path, body) => {
    running?.abort();
    const own = new AbortController();
    running = own;
    const answer = await fetch(path, {
      method: 'POST', body: JSON.stringify(body), headers: {'Content-Type': 'application/json'}, signal: own.signal,
    });
    const text = await answer.text();
    if (answer.ok) return text;
    let words = text;
    try {
      words = JSON.parse(text).error;
    } catch { /* not in our words */ }
    throw new Error(words);
  };
}

const askResult = asker();
const askSensitivity = asker();
const askReport = asker();

function say(problem) {
  at('problem').textContent = problem ?? '';
  at('problem').hidden = !problem;
}

const between = (range, text) => (range ? `80 %: ${text(range[0])} to ${text(range[1])}` : '');

// [name, text, interval] of a call, a generation or a service.
function figuresOf(record) {
  const {summary: of} = record;
  if (record.schema.startsWith('foretell.serve')) {
    const metric = (name, title) => of[name] && [title, `${seconds(of[name].mean)} mean, ${seconds(of[name].p99)} p99`, ''];
    return [
      metric('ttft_s', 'First token'), metric('tpot_s', 'Per token'), metric('e2e_s', 'Whole request'),
      ['Throughput', `${number(of.output_tokens_per_s)} output tokens/s`, ''],
      of.cost_usd_per_million != null && ['USD per million', usd(of.cost_usd_per_million), ''],
      of.binds && ['What binds', of.binds, ''],
    ].filter(Boolean);
  }
  const range = of.interval80 ?? {};
  return [
    ['Latency', seconds(of.latency_s), between(range.latency_s, seconds)],
    of.ttft_s != null && ['First token', seconds(of.ttft_s), between(range.ttft_s, seconds)],
    of.tpot_s != null && ['Per token', seconds(of.tpot_s), between(range.tpot_s, seconds)],
    ['Throughput', `${number(of.throughput)} ${of.throughput_unit ?? ''}`, between(range.throughput, number)],
    of.cost_usd_per_million != null && ['USD per million', usd(of.cost_usd_per_million), between(range.cost_usd_per_million, usd)],
    of.joules_per_request != null && ['Energy', `${si(of.joules_per_request, 'J')} a request, ${si(of.watts, 'W')}`,
      between(range.joules_per_request, (value) => si(value, 'J'))],
    ['Memory', `${memoryText(of.memory_used_bytes)} of ${memoryText(of.memory_capacity_bytes)}`, ''],
    ['What bounds it', of.bottleneck ?? '–', ''],
  ].filter(Boolean);
}

function showFigures(record) {
  at('figures').replaceChildren(...figuresOf(record).flatMap(([name, text, note]) => [
    element('div', {}, element('dt', {}, name), element('dd', {}, text), note ? element('dd', {class: 'note'}, note) : null),
  ]));
}

const isRun = (record) => record.schema.startsWith('foretell.run');

function showSections() {
  const main = at('sections');
  forgetFigures(main);
  main.replaceChildren();
  at('contents').replaceChildren();
  const texts = [...pins.map(({text}) => text), ...(current && isRun(current.record) ? [current.text] : [])];
  if (texts.length === 0) return;
  const data = parseReport(`{"schema":"foretell.report/1","records":[${texts.join(',')}]}`);
  const report = new Report(data);
  if (current && isRun(current.record)) report.chosen = data.records.at(-1);
  drawSections(report, kSections);
}

function showActions() {
  const pin = element('button', {
    type: 'button', class: 'plain', disabled: !current || !isRun(current.record) || pins.length >= kMaxPins,
    onclick: () => {
      pins.push({text: current.text});
      showSections();
      showActions();
    },
  }, pins.length >= kMaxPins ? `${kMaxPins} are pinned` : 'Pin to compare');
  const unpin = pins.length === 0 ? null : element('button', {
    type: 'button', class: 'plain',
    onclick: () => {
      pins.length = 0;
      showSections();
      showActions();
    },
  }, `Forget ${pins.length} pinned`);
  const copy = element('button', {
    type: 'button', class: 'plain',
    onclick: async () => {
      await navigator.clipboard.writeText(commandLine(state));
      at('status').textContent = 'The command line is in the clipboard.';
    },
  }, 'Copy command line');
  const report = element('button', {
    type: 'button', class: 'plain', disabled: !current || !isRun(current.record),
    onclick: async () => {
      try {
        const html = await askReport('report', {records: [...pins.map(({text}) => text), current.text]});
        const link = element('a', {download: 'foretell-report.html', href: URL.createObjectURL(new Blob([html], {type: 'text/html'}))});
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      } catch (problem) {
        say(problem.message);
      }
    },
  }, 'Save as report');
  const study = saveButton('Save as study', 'explored.yaml', 'text/yaml', () => studyOf(state));
  at('actions').replaceChildren(...[pin, unpin, copy, report, study].filter(Boolean));
}

async function ask() {
  at('command').textContent = commandLine(state);
  const asked = performance.now();
  try {
    const text = await askResult(commandOfMode(state), {options: optionsOf(state)});
    const record = JSON.parse(text);
    current = {record, text};
    say(null);
    showFigures(record);
    showSections();
    at('status').textContent = `Predicted in ${Math.round(performance.now() - asked)} ms.`;
    document.body.dataset.answers = String(Number(document.body.dataset.answers ?? 0) + 1);
  } catch (problem) {
    if (problem.name === 'AbortError') return;
    say(problem.message);
    at('status').textContent = 'No prediction for this question; the figures below are those of the one before.';
    document.body.dataset.problems = String(Number(document.body.dataset.problems ?? 0) + 1);
  }
  showActions();
}

let pause;
function changed() {
  clearTimeout(pause);
  pause = setTimeout(ask, kPause);
}

let ranking;
function otherMachine() {
  state.set = {};
  sliders = [];
  drawSliders();
  clearTimeout(ranking);
  ranking = setTimeout(rank, 10 * kPause);
  changed();
}

// Which parameters matter is asked for once per machine and network, after the first answer.
async function rank() {
  if (state.mode === 'service') return;
  const host = at('sliders');
  host.replaceChildren(element('p', {class: 'note'}, 'Looking for the hardware parameters that matter …'));
  try {
    const record = JSON.parse(await askSensitivity('explain', {options: optionsOf({...state, set: {}})}));
    sliders = slidersOf(record.explanation?.sensitivity).map(({path, value}) => ({path, published: value}));
    drawSliders();
  } catch (problem) {
    if (problem.name !== 'AbortError') host.replaceChildren(element('p', {class: 'note'}, `No parameters: ${problem.message}`));
  }
}

function slider({path, published}) {
  const id = `slider-${path}`;
  const shown = element('output', {for: id});
  const input = element('input', {
    type: 'range', id, min: 0, max: kStops, step: 1, value: positionOf(state.set[path] ?? published, published), list: 'published',
    oninput: () => {
      const position = Number(input.value);
      if (position === kStops / 2) delete state.set[path];
      else state.set[path] = valueAt(position, published);
      show();
      changed();
    },
  });
  const show = () => {
    const text = state.set[path] ?? published;
    shown.textContent = path in state.set ? `${text} (published: ${published})` : `${text}, as published`;
    input.setAttribute('aria-valuetext', shown.textContent);
  };
  show();
  return element('div', {class: 'slider'}, element('label', {for: id}, path), input, shown);
}

function drawSliders() {
  const host = at('sliders');
  host.replaceChildren();
  if (sliders.length === 0) return;
  const reset = element('button', {
    type: 'button', class: 'plain',
    onclick: () => {
      state.set = {};
      drawSliders();
      changed();
    },
  }, 'All as published');
  const middle = element('datalist', {id: 'published'}, element('option', {value: kStops / 2}));
  host.append(...sliders.map(slider), middle, element('p', {}, reset));
}

function drawQuestion() {
  const option = (text) => ({label: text || 'as the network is published', value: text});
  const suggest = (name, label, list) => {
    const id = `ask-${name}`;
    const input = element('input', {
      id, type: 'text', list: `${id}-list`, value: state[name], autocomplete: 'off', spellcheck: 'false',
      onchange: () => {
        state[name] = input.value.trim();
        otherMachine();
      },
    });
    return element('span', {class: 'choice'}, element('label', {for: id}, label), input,
      element('datalist', {id: `${id}-list`}, ...list.map((value) => element('option', {value}))));
  };
  const numbers = kInputs.filter(({modes}) => modes.includes(state.mode)).map(({name, label, unit}) => {
    const id = `ask-${name}`;
    const input = element('input', {
      id, type: 'text', value: state.inputs[name], size: name === 'slo' ? 24 : 7, autocomplete: 'off',
      placeholder: name === 'slo' ? 'ttft.p99<=1s' : name === 'tp' ? 'chosen' : null,
      oninput: () => {
        state.inputs[name] = input.value;
        changed();
      },
    });
    return element('span', {class: 'choice'}, element('label', {for: id}, unit ? `${label}, ${unit}` : label), input);
  });
  at('question').replaceChildren(
    suggest('on', 'System', start.systems), suggest('workload', 'Network', start.workloads),
    choice('Data type', start.dtypes.concat('').sort().map(option), state.dtype, (dtype) => {
      state.dtype = dtype;
      otherMachine();
    }),
    choice('Ask about', kModes, state.mode, (mode) => {
      state.mode = mode;
      drawQuestion();
      otherMachine();
    }),
    ...numbers,
  );
}

at('question').addEventListener('submit', (event) => event.preventDefault());
drawQuestion();
showActions();
listenToTheme();
redrawWhenResized();
otherMachine();
