// Numbers as people read them. null, undefined and non-numbers become an en dash.

const known = (value) => typeof value === 'number' && Number.isFinite(value);

const formats = new Map();

// Making a format is slow, using one is not.
function formatOf(options) {
  const key = JSON.stringify(options);
  if (!formats.has(key)) formats.set(key, new Intl.NumberFormat('en-US', options));
  return formats.get(key);
}

const digits = (value, significant) =>
  formatOf({
    maximumSignificantDigits: Math.max(significant, Math.ceil(Math.log10(Math.abs(value) + 1))),
  }).format(value);

export function number(value, significant = 4) {
  return known(value) ? digits(value, significant) : '–';
}

export function seconds(value) {
  if (!known(value)) return '–';
  const units = [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']];
  const [size, unit] = value === 0 ? units[0] : units.find(([least]) => value >= least) ?? units.at(-1);
  return `${digits(value / size, 3)} ${unit}`;
}

// Memory is built in powers of two, and stated so.
export function memory(value) {
  if (!known(value)) return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let step = 0;
  while (step < units.length - 1 && value >= 1024) {
    value /= 1024;
    step += 1;
  }
  return `${digits(value, 3)} ${units[step]}`;
}

// Rates and amounts in powers of ten: si(2.72e11, 'B/s') is "272 GB/s".
export function si(value, unit = '') {
  if (!known(value)) return '–';
  const steps = [[1e18, 'E'], [1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, '']];
  const [size, prefix] = steps.find(([least]) => value >= least) ?? steps.at(-1);
  return `${digits(value / size, 3)} ${prefix}${unit}`.trimEnd();
}

export function usd(value) {
  if (!known(value)) return '–';
  if (value > 0 && value < 1) return `$${formatOf({minimumSignificantDigits: 3, maximumSignificantDigits: 3}).format(value)}`;
  const digitsBehind = value < 100 ? 2 : 0;
  return `$${formatOf({minimumFractionDigits: digitsBehind, maximumFractionDigits: digitsBehind}).format(value)}`;
}

export function percent(share) {
  if (!known(share)) return '–';
  const hundredths = share * 100;
  return `${Math.abs(hundredths - Math.round(hundredths)) < 1e-9 ? Math.round(hundredths) : hundredths.toFixed(1)} %`;
}

export function signedPercent(share) {
  return known(share) ? `${share > 0 ? '+' : share < 0 ? '−' : ''}${percent(Math.abs(share))}` : '–';
}
