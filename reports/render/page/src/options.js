// Pieces of ECharts options that several sections share. Pure: from numbers and a theme to data.

const kRowHeight = 24;
const kBarSpace = 0.62; // of a row
const kLabelWidth = 0.44; // of the chart, at most
export const kNarrow = 500; // px; less room for labels of axes

// Black or white, whichever reads better on a colour of the style sheet, "rgb(1, 2, 3)".
export function inkOn(colour) {
  const [red, green, blue] = (/\d+[^)]*/.exec(colour)?.[0] ?? '0,0,0').split(/[ ,]+/).map(Number);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? '#10151c' : '#ffffff';
}

// The end of a name says more than its begin: "encoder.3.ffn.output" becomes "ffn.output".
export function briefName(name, length) {
  const words = name.split('.');
  let brief = words.at(-1);
  for (let at = words.length - 2; at >= 0 && words[at].length + 1 + brief.length <= length; at -= 1) brief = `${words[at]}.${brief}`;
  return clipped(brief, length);
}

export const clipped = (text, length = 44) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

// Names cut to a length so that those that differ still do: where the beginnings are the same, a name
// begins with the word in which it differs.
export function clippedApart(names, length) {
  const short = names.map((name) => clipped(name, length));
  return names.map((name, at) => {
    const alike = names.filter((other, place) => other !== name && short[place] === short[at]);
    if (alike.length === 0) return short[at];
    const common = (other) => {
      let count = 0;
      while (count < name.length && name[count] === other[count]) ++count;
      return count;
    };
    const differs = Math.min(...alike.map(common));
    const word = Math.max(...[' ', '.', '=', ','].map((sign) => name.lastIndexOf(sign, differs - 1))) + 1;
    return clipped(`…${name.slice(Math.max(word, differs - length + 2))}`, length);
  });
}

// Long names are cut to what a chart of that width can spare.
export const labelLength = (width) => Math.max(12, Math.floor((width * kLabelWidth) / 6.4));

export function valueAxis(theme, format, extra = {}) {
  return {
    type: 'value',
    splitNumber: 4,
    axisLabel: {color: theme.ink, formatter: format, hideOverlap: true, fontSize: 12},
    splitLine: {lineStyle: {color: theme.line}},
    nameTextStyle: {color: theme.muted, fontSize: 12},
    ...extra,
  };
}

export function categoryAxis(theme, categories, width, {cut = clipped, ...extra} = {}) {
  const length = labelLength(width);
  return {
    type: 'category',
    inverse: true,
    data: cut === clipped ? clippedApart(categories, length) : categories.map((name) => cut(name, length)),
    axisLabel: {color: theme.ink, interval: 0, fontSize: 12},
    axisLine: {lineStyle: {color: theme.line}},
    axisTick: {show: false},
    ...extra,
  };
}

// Ends of a logarithmic axis at 1, 2 or 5 times a power of ten, just outside the values.
export function logEnds(values) {
  const known = values.filter((value) => value > 0);
  const least = Math.min(...known) / 1.1;
  const most = Math.max(...known) * 1.1;
  const steps = (value) => [1, 2, 5, 10].map((step) => step * 10 ** Math.floor(Math.log10(value)));
  return [steps(least).filter((step) => step <= least).at(-1), steps(most).find((step) => step >= most)];
}

export const legendOf = (theme, extra = {}) =>
  ({show: true, type: 'scroll', top: 0, textStyle: {color: theme.ink}, itemGap: 18, pageTextStyle: {color: theme.ink},
    pageIconColor: theme.ink, pageIconInactiveColor: theme.line, ...extra});

const kLegendRow = 22;
const kMaxLegendRows = 8; // more, and it is turned over page by page
const kLetter = 6.7;

// The chart with room for a legend of several rows where one is too short: {option, height}.
export function withWholeLegend({option, height}, width) {
  if (!option.legend?.show || !option.grid) return {option, height};
  const names = [...new Set(option.legend.data ?? option.series.map(({name}) => name))].filter(Boolean);
  const longest = Math.floor((width - 60) / kLetter);
  let rows = 1;
  let used = 0;
  for (const name of names) {
    const wide = 30 + kLetter * Math.min(name.length, longest) + 18;
    if (used > 0 && used + wide > width) {
      rows += 1;
      used = 0;
    }
    used += wide;
  }
  if (rows > kMaxLegendRows) return {option, height};
  const more = (rows - 1) * kLegendRow;
  const legend = {...option.legend, type: 'plain', formatter: (name) => clipped(name, longest)};
  return {option: {...option, legend, grid: {...option.grid, top: option.grid.top + more}}, height: height + more};
}

// The interval of each bar as a line with ends; data are [low, high, row]. `place` says which of
// `count` bars that share a row carries it; textOf(row) stands at the end.
export function whiskers(theme, name, data, place = 0, count = 1, textOf = () => '') {
  return {
    name,
    type: 'custom',
    silent: true,
    z: 10,
    encode: {x: [0, 1], y: 2},
    data,
    renderItem: (_, api) => {
      const low = api.coord([api.value(0), api.value(2)]);
      const high = api.coord([api.value(1), api.value(2)]);
      const band = api.size([0, 1])[1] * kBarSpace;
      const y = low[1] + band * ((place + 0.5) / count - 0.5);
      const end = Math.min(4, band / count / 2);
      const style = {stroke: theme.ink, lineWidth: 1.3};
      const line = (x1, y1, x2, y2) => ({type: 'line', shape: {x1, y1, x2, y2}, style});
      return {
        type: 'group',
        children: [
          line(low[0], y, high[0], y),
          line(low[0], y - end, low[0], y + end),
          line(high[0], y - end, high[0], y + end),
          {type: 'text', style: {
            text: textOf(api.value(2)), x: high[0] + 6, y, fill: theme.ink, fontSize: 12, verticalAlign: 'middle',
          }},
        ],
      };
    },
  };
}

// Horizontal bars, one row per category; series side by side, each {name, values, intervals?}.
// `markers`, {name, values, symbol}, stand on the bars; `cut(name, length)` shortens names.
export function groupedBars(theme, width, {categories, series: given, format, note = () => '', markers = [], cut = clipped}) {
  const series = given.filter(({values}) => values.some((value) => value != null));
  const many = series.length > 1;
  const bars = series.map(({name, values, intervals = [], colours = []}, at) => ({
    name,
    type: 'bar',
    barGap: '0%',
    barCategoryGap: `${(1 - kBarSpace) * 100}%`,
    data: values.map((value, row) => (colours[row] ? {value, itemStyle: {color: colours[row]}} : value)),
    label: {
      show: true,
      position: 'right',
      color: theme.ink,
      fontSize: 12,
      distance: 6,
      formatter: ({dataIndex, value}) => (value == null || intervals[dataIndex] ? '' : format(value)),
    },
    itemStyle: {color: theme.series[at % theme.series.length]},
    tooltip: {
      formatter: ({dataIndex, value}) => {
        const range = intervals[dataIndex];
        const about = range ? `\n80 % interval: ${format(range[0])} to ${format(range[1])}` : '';
        return `${categories[dataIndex]}${many ? `\n${name}` : ''}: ${format(value)}${about}${note(at, dataIndex)}`;
      },
    },
  }));
  const lines = series.flatMap(({name, values, intervals = []}, at) => {
    const data = intervals.flatMap((range, row) => (range ? [[range[0], range[1], row]] : []));
    return data.length ? [whiskers(theme, name, data, at, series.length, (row) => format(values[row]))] : [];
  });
  const rowHeight = Math.max(kRowHeight, 15 * series.length / kBarSpace);
  const shownMarkers = markers.filter(({values}) => values.some((value) => value != null));
  const points = shownMarkers.map(({name, values, symbol}, at) => ({
    name,
    type: 'scatter',
    symbol,
    symbolSize: 10,
    z: 11,
    itemStyle: {color: theme.series[(series.length + at) % theme.series.length], borderColor: theme.paper, borderWidth: 1},
    data: values.flatMap((value, row) => (value == null ? [] : [[value, row]])),
    tooltip: {formatter: ({value: [value, row]}) => `${categories[row]}\n${name}: ${format(value)}`},
  }));
  const legend = many || points.length > 0;
  return {
    height: categories.length * rowHeight + (legend ? 90 : 56),
    option: {
      legend: legend ? legendOf(theme, {data: [...series, ...points].map(({name}) => name)}) : {show: false},
      grid: {left: 8, right: 76, top: legend ? 36 : 8, bottom: 8, containLabel: true},
      xAxis: valueAxis(theme, format, {min: 0, splitNumber: width < kNarrow ? 2 : 4}),
      yAxis: categoryAxis(theme, categories, width, {cut}),
      series: [...bars, ...lines, ...points],
    },
  };
}

// Horizontal bars on top of each other: series are {name, values}.
export function stackedBars(theme, width, {categories, series, format, max, interval, axisLabel = {}, marks = []}) {
  return {
    height: categories.length * kRowHeight + 90,
    option: {
      legend: legendOf(theme),
      grid: {left: 8, right: 40, top: 36, bottom: 8, containLabel: true},
      xAxis: valueAxis(theme, format, {min: 0, max, interval,
        axisLabel: {color: theme.ink, formatter: format, hideOverlap: true, fontSize: 12, ...axisLabel}}),
      yAxis: categoryAxis(theme, categories, width),
      series: [...series.map(({name, values, colour}, at) => ({
        name,
        type: 'bar',
        stack: 'all',
        barMaxWidth: 16,
        data: values,
        itemStyle: {color: colour ?? theme.series[at % theme.series.length]},
        tooltip: {formatter: ({dataIndex, value}) => `${categories[dataIndex]}\n${name}: ${format(value)}`},
      })), ...marks],
    },
  };
}
