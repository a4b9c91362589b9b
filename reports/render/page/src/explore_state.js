// What the reader of the exploring page has chosen, as options of the command line. Pure.
import {quoted} from './records.js';

export const kModes = [
  {label: 'One call', value: 'call'},
  {label: 'A generation', value: 'generation'},
  {label: 'A service', value: 'service'},
];

// Fields of the form: the option, its label, in which modes it counts, and what it starts with.
export const kInputs = [
  {name: 'batch', label: 'Batch', modes: ['call', 'generation'], start: '8'},
  {name: 'seq', label: 'Sequence', unit: 'tokens', modes: ['call'], start: '128'},
  {name: 'input-len', label: 'Input', unit: 'tokens', modes: ['generation', 'service'], start: '1024'},
  {name: 'output-len', label: 'Output', unit: 'tokens', modes: ['generation', 'service'], start: '128'},
  {name: 'concurrency', label: 'Users at once', modes: ['service'], start: '32'},
  {name: 'requests', label: 'Requests', modes: ['service'], start: '320'},
  {name: 'tp', label: 'Tensor parallel', modes: ['generation', 'service'], start: ''},
  {name: 'slo', label: 'Promise', modes: ['service'], start: ''},
];

export const firstState = ({on, workload, dtype = ''}) => ({
  mode: 'call', on, workload, dtype,
  inputs: Object.fromEntries(kInputs.map(({name, start}) => [name, start])),
  set: {}, // path: text of a value that differs from the published one
});

export const commandOfMode = ({mode}) => (mode === 'service' ? 'serve' : 'run');

// [[name, value], …] as the server takes them.
export function optionsOf({mode, on, workload, dtype, inputs, set}) {
  const options = [['on', on], ['workload', workload]];
  if (dtype) options.push(['dtype', dtype]);
  for (const {name, modes} of kInputs) {
    const text = (inputs[name] ?? '').trim();
    if (modes.includes(mode) && text) options.push([name, text]);
  }
  for (const [path, value] of Object.entries(set)) options.push(['set', `${path}=${value}`]);
  return options;
}

export const commandLine = (state) =>
  ['foretell', commandOfMode(state), ...optionsOf(state).flatMap(([name, value]) => [`--${name}`, quoted(value)])].join(' ');

// A study that varies what was moved, from half to twice the value that was chosen.
export function studyOf(state) {
  const base = optionsOf({...state, set: {}}).map(([name, value]) => `  ${name.replaceAll('-', '_')}: ${JSON.stringify(value)}`);
  const moved = Object.entries(state.set).map(([path, text]) => {
    const {value, unit} = quantity(text);
    const list = [value / 2, value, value * 2].map((one) => `${digits(one)}${unit ? ` ${unit}` : ''}`);
    return `  ${path}: [${list.join(', ')}]`;
  });
  if (moved.length === 0) moved.push(`  batch: [1, 2, 4, 8, 16, 32]`);
  const without = moved[0].startsWith('  batch') ? base.filter((line) => !line.startsWith('  batch:')) : base;
  return `study: explored\nbase:\n${without.join('\n')}\nvary:\n${moved.join('\n')}\n`;
}

// "820 GB/s" as {value: 820, unit: 'GB/s'}; null for what is no quantity.
export function quantity(text) {
  const found = /^([-+]?[\d.]+(?:e[-+]?\d+)?)\s*([A-Za-z%/]*)$/.exec((text ?? '').trim());
  return found && Number.isFinite(Number(found[1])) ? {value: Number(found[1]), unit: found[2]} : null;
}

export const digits = (value) => String(Number(value.toPrecision(4)));

export const kStops = 64; // positions of a slider, from a quarter to four times the published value
export const kSpan = 4;

// The value of a position: the published one in the middle.
export function valueAt(position, published) {
  const {value, unit} = quantity(published);
  const share = kSpan ** ((2 * position) / kStops - 1);
  const whole = unit === '' && Number.isInteger(value);
  const moved = whole ? Math.max(1, Math.round(value * share)) : value * share;
  return `${whole ? moved : digits(moved)}${unit ? ` ${unit}` : ''}`;
}

export function positionOf(text, published) {
  const now = quantity(text);
  const then = quantity(published);
  if (!now || !then || now.unit !== then.unit || !(now.value > 0)) return kStops / 2;
  const position = ((Math.log(now.value / then.value) / Math.log(kSpan) + 1) * kStops) / 2;
  return Math.min(kStops, Math.max(0, Math.round(position)));
}

// Parameters worth a slider: those that move latency or throughput most, of `explain --sensitivity`.
export function slidersOf(sensitivity, most = 8) {
  const reach = ({latency, throughput}) => Math.max(...[latency, throughput].flatMap(
    (metric) => ['less', 'more', 'twice'].map((end) => Math.abs(Math.log(metric?.[end] || 1)))));
  return [...(sensitivity ?? [])]
    .filter(({value}) => quantity(value)?.value > 0)
    .sort((a, b) => reach(b) - reach(a) || a.path.localeCompare(b.path))
    .slice(0, most);
}
