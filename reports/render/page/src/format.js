// Numbers as people read them. null, undefined and non-numbers become an en dash.

const known = (value) => typeof value === 'number' && Number.isFinite(value);

const digits = (value, significant) =>
  value.toLocaleString('en-US', {
    maximumSignificantDigits: Math.max(significant, Math.ceil(Math.log10(Math.abs(value) + 1))),
  });

export function number(value, significant = 4) {
  return known(value) ? digits(value, significant) : '–';
}

export function seconds(value) {
  if (!known(value)) return '–';
  const [scale, unit] =
    value === 0 || value >= 1 ? [1, 's'] : value >= 1e-3 ? [1e3, 'ms'] : value >= 1e-6 ? [1e6, 'µs'] : [1e9, 'ns'];
  return `${digits(value * scale, 3)} ${unit}`;
}

export function bytes(value) {
  if (!known(value)) return '–';
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let step = 0;
  while (step < units.length - 1 && value >= 1000) {
    value /= 1000;
    step += 1;
  }
  return `${digits(value, 3)} ${units[step]}`;
}

export function usd(value) {
  return known(value) ? `$${value.toLocaleString('en-US', {minimumFractionDigits: value < 100 ? 2 : 0, maximumFractionDigits: value < 1 ? 4 : value < 100 ? 2 : 0})}` : '–';
}

export function percent(share) {
  return known(share) ? `${digits(share * 100, 3)} %` : '–';
}
