// Draws charts from ECharts options. Options are data, built by the sections from records and a theme;
// this file alone knows the library and the document.
import {BarChart, CustomChart, HeatmapChart, LineChart, ParallelChart, ScatterChart} from 'echarts/charts';
import {
  AriaComponent, DataZoomComponent, GridComponent, LegendComponent, MarkLineComponent, ParallelComponent,
  TooltipComponent, VisualMapComponent,
} from 'echarts/components';
import * as echarts from 'echarts/core';
import {CanvasRenderer, SVGRenderer} from 'echarts/renderers';

import {element} from './dom.js';
import {withWholeLegend} from './options.js';

echarts.use([
  AriaComponent, BarChart, CanvasRenderer, CustomChart, DataZoomComponent, GridComponent, HeatmapChart,
  LegendComponent, LineChart, MarkLineComponent, ParallelChart, ParallelComponent, ScatterChart, SVGRenderer,
  TooltipComponent, VisualMapComponent,
]);

const kManyMarks = 2000; // more are drawn as pixels
const kLikelyHeight = 440;
const drawn = new Set();

// Colours of the style sheet as they are now: in light or dark.
function readTheme() {
  const probe = element('span', {class: 'hidden'});
  document.body.append(probe);
  const colour = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const theme = {
    ink: colour('ink'), muted: colour('muted'), line: colour('line'), paper: colour('paper'),
    surface: colour('surface'), accent: colour('accent'),
    series: [1, 2, 3, 4, 5, 6, 7, 8].map((at) => colour(`series-${at}`)),
  };
  probe.remove();
  return theme;
}

let theme = null;
const currentTheme = () => (theme ??= readTheme());

function built(build, host) {
  const width = host.clientWidth || 600;
  return withWholeLegend(build(currentTheme(), width), width);
}

function draw(chart) {
  const {option, height} = built(chart.build, chart.host);
  chart.host.style.height = `${height}px`;
  if (!chart.instance) {
    chart.instance = echarts.init(chart.host, null, {renderer: chart.marks > kManyMarks ? 'canvas' : 'svg'});
    chart.onReady?.(chart.instance);
  } else {
    chart.instance.resize();
  }
  chart.instance.setOption({
    animation: false,
    color: theme.series,
    textStyle: {color: theme.ink, fontFamily: 'system-ui, sans-serif'},
    aria: {enabled: true, label: {description: chart.description}},
    ...option,
    tooltip: {
      trigger: 'item',
      renderMode: 'richText', // names come from files: never as markup
      backgroundColor: theme.surface,
      borderColor: theme.line,
      textStyle: {color: theme.ink, fontSize: 13},
      confine: true,
      ...option.tooltip,
    },
  }, true);
}

// A figure. `build(theme, width)` returns {option, height}; it is called again when the width or the
// theme changes, and not before the figure comes near the window.
export function figure(caption, build, {marks = 0, description = caption, onReady} = {}) {
  const host = element('div', {class: 'chart', role: 'img', 'aria-label': description});
  const chart = {host, build, marks, description, onReady, instance: null};
  drawn.add(chart);
  const whenNear = new IntersectionObserver((entries) => {
    if (!entries.some(({isIntersecting}) => isIntersecting)) return;
    whenNear.disconnect();
    draw(chart);
  }, {rootMargin: '600px'});
  whenNear.observe(host);
  // The room it will take, so that the page does not jump when it is drawn.
  host.style.height = `${kLikelyHeight}px`;
  if (marks <= kManyMarks) {
    requestAnimationFrame(() => {
      if (host.isConnected && !chart.instance) host.style.height = `${built(build, host).height}px`;
    });
  }
  const made = element('figure', {}, element('figcaption', {}, caption), host);
  made.forget = () => {
    whenNear.disconnect();
    chart.instance?.dispose();
    drawn.delete(chart);
  };
  made.redraw = () => draw(chart);
  return made;
}

// Takes the figures inside `root` out of memory, before it is filled anew.
export function forgetFigures(root) {
  for (const found of root.querySelectorAll('figure')) found.forget?.();
}

export function redrawCharts({themeChanged = false, all = false} = {}) {
  if (themeChanged) theme = null;
  for (const chart of drawn) {
    if ((chart.instance || all) && chart.host.isConnected) draw(chart);
  }
}
