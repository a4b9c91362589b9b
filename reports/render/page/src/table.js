// Tables that sort by a click on a heading and filter by typing, a page of rows at a time.
//
// A column: {title, value(row), text?(value, row), hint?}. Columns with `text` hold numbers: they stand
// right, and sort by value. `value` alone is text.
import {element, saveButton} from './dom.js';

const kPageRows = 50;
const kBroad = 24; // letters
const kLookedAt = 500; // rows, to tell how broad a column is
const kMinFilterRows = 6; // shorter tables are read faster than filtered

const missing = (value) => value == null || value === '' || Number.isNaN(value);

// Missing values go last in both directions.
export function compareBy({value}, descending) {
  return (left, right) => {
    const a = value(left);
    const b = value(right);
    if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
    const order = typeof a === 'string' ? a.localeCompare(String(b), 'en', {numeric: true}) : a - b;
    return descending ? -order : order;
  };
}

export const cellText = (column, row) => {
  const value = column.value(row);
  return column.text ? column.text(value, row) : String(value ?? '');
};

// Rows in which every word occurs, in any column.
export function filterRows(rows, columns, words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return rows;
  return rows.filter((row) => {
    const text = columns.map((column) => cellText(column, row)).join(' ').toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

// Values with all their digits.
export function csvOf(rows, columns) {
  const lines = [columns.map(({title, unit}) => quoted(unit ? `${title} (${unit})` : title)).join(',')];
  for (const row of rows) {
    lines.push(columns.map(({value}) => quoted(String(value(row) ?? ''))).join(','));
  }
  return `${lines.join('\n')}\n`;
}

// Where nothing points, a touch shows what a title says, below the row.
function showHint(cell) {
  const open = cell.closest('table').querySelector('.hint');
  const shown = open?.dataset.of === cell.title;
  open?.remove();
  if (shown || !matchMedia('(hover: none)').matches) return;
  const row = cell.closest('tr');
  const text = element('td', {colspan: String(row.cells.length), role: 'status'}, cell.title);
  const made = element('tr', {class: 'hint'}, text);
  made.dataset.of = cell.title;
  row.after(made);
}

// Columns without any value are left out.
export function usedColumns(columns, rows) {
  return columns.filter((column) => !column.optional || rows.some((row) => !missing(column.value(row))));
}

// {element, choose(row)}: `onChoose` makes rows selectable, `onOrder` hears which rows are shown.
export function makeTable({name, columns: given, rows, onChoose, onOrder, pageRows = kPageRows, fileName = 'foretell-table.csv'}) {
  const columns = usedColumns(given, rows);
  const state = {sortedBy: null, descending: false, words: '', page: 0, chosen: null, shown: rows};
  const head = element('thead');
  const body = element('tbody');
  const count = element('span', {class: 'count', role: 'status'});
  const pager = element('span', {class: 'pager'});

  const drawHead = () => {
    head.replaceChildren(element('tr', {}, ...columns.map((column) => {
      const sorted = state.sortedBy === column;
      const button = element('button', {type: 'button', title: column.hint ?? null, onclick: () => {
        state.descending = sorted ? !state.descending : Boolean(column.largestFirst);
        state.sortedBy = column;
        update();
      }}, column.title);
      return element('th', {
        scope: 'col',
        class: column.text ? 'number' : null,
        'aria-sort': sorted ? (state.descending ? 'descending' : 'ascending') : null,
      }, button);
    })));
  };

  const looked = rows.slice(0, kLookedAt);
  const broad = new Set(columns.filter((column) =>
    column.broad && looked.some((row) => String(cellText(column, row)).length > kBroad)));
  const bodyRow = (row) => {
    const cells = columns.map((column, at) => {
      const text = cellText(column, row);
      const hint = column.source?.(row);
      const content = at === 0 && onChoose
        ? element('button', {type: 'button', class: 'pick', 'aria-pressed': String(row === state.chosen)}, text)
        : column.link?.(row) ? element('a', {href: encodeURI(column.link(row))}, text) : text;
      return element(at === 0 ? 'th' : 'td', {
        scope: at === 0 ? 'row' : null,
        class: column.text ? 'number' : column.wide ? 'wide' : broad.has(column) ? 'broad' : null,
        title: hint || null,
        onclick: hint ? (event) => showHint(event.currentTarget) : null,
      }, content);
    });
    return element('tr', {
      class: [onChoose ? 'choosable' : '', row === state.chosen ? 'chosen' : ''].join(' ').trim() || null,
      onclick: onChoose ? () => choose(row) : null,
    }, ...cells);
  };

  const drawBody = () => {
    const from = state.page * pageRows;
    body.replaceChildren(...state.shown.slice(from, from + pageRows).map(bodyRow));
    const pages = Math.ceil(state.shown.length / pageRows);
    const part = pages > 1 ? `rows ${from + 1} to ${Math.min(from + pageRows, state.shown.length)} of ` : '';
    body.parentElement?.setAttribute('data-part', part ? `${part}${state.shown.length}` : '');
    count.textContent = state.shown.length === rows.length
      ? `${rows.length.toLocaleString('en-US')} ${rows.length === 1 ? 'row' : 'rows'}`
      : `${state.shown.length.toLocaleString('en-US')} of ${rows.length.toLocaleString('en-US')} rows`;
    const turn = (label, step, enabled) => element('button', {
      type: 'button', class: 'plain', disabled: !enabled, onclick: () => {
        state.page += step;
        drawBody();
      },
    }, label);
    pager.replaceChildren(...(pages < 2 ? [] : [
      turn('Previous', -1, state.page > 0), `page ${state.page + 1} of ${pages}`,
      turn('Next', 1, state.page < pages - 1),
    ]));
  };

  function update() {
    state.page = 0;
    state.shown = filterRows(rows, columns, state.words);
    if (state.sortedBy) state.shown = [...state.shown].sort(compareBy(state.sortedBy, state.descending));
    drawHead();
    drawBody();
    onOrder?.(state.shown);
  }

  function choose(row) {
    if (row === state.chosen) return;
    state.chosen = row;
    const at = document.activeElement?.closest?.('tr');
    const index = at ? [...body.children].indexOf(at) : -1;
    drawBody();
    if (index >= 0) body.children[index]?.querySelector('.pick')?.focus();
    onChoose?.(row);
  }

  const filter = element('input', {
    type: 'search', 'aria-label': `Filter ${name}`, placeholder: 'Filter', autocomplete: 'off',
    oninput: () => {
      state.words = filter.value;
      update();
    },
  });
  const tools = element('div', {class: 'tools'},
    rows.length >= kMinFilterRows ? filter : null, count, pager,
    saveButton('Save CSV', fileName, 'text/csv', () => csvOf(state.shown, columns)));
  const table = element('table', {class: onChoose ? 'picks' : null}, element('caption', {class: 'hidden'}, name), head, body);
  const scroll = element('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name}, table);
  update();
  return {element: element('div', {class: 'sheet'}, tools, scroll), choose};
}
