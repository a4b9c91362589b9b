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

export function usd(value) {
  if (!known(value)) return '–';
  const [fewest, most] = value < 1 ? [2, 4] : value < 100 ? [2, 2] : [0, 0];
  return `$${value.toLocaleString('en-US', {minimumFractionDigits: fewest, maximumFractionDigits: most})}`;
}

export function percent(share) {
  return known(share) ? `${digits(share * 100, 3)} %` : '–';
}
