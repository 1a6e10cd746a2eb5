import { element, prose } from './elements.js';

/**
 * A table that can be sorted by any column; initially, problems come first.
 *
 * A column has a title, a sort value and a cell. The reason of a row is shown below it, with its code, followed by its
 * element `more` and its remedy.
 */
export class SortableTable {
  #table;
  #columns;
  #rows = [];
  #sort = { column: 0, isDescending: false };

  constructor(table, columns) {
    this.#table = table;
    this.#columns = columns;
  }

  show(rows) {
    this.#rows = rows;
    this.#render();
  }

  #render() {
    const { value } = this.#columns[this.#sort.column];
    const direction = this.#sort.isDescending ? -1 : 1;
    const sorted = this.#rows.toSorted((a, b) => compare(value(a), value(b), direction));
    const body = element(
      'tbody',
      {},
      sorted.flatMap((row) => this.#createRows(row)),
    );
    if (sorted.length === 0) {
      const cell = element('td', { className: 'empty', text: 'No entries', colspan: this.#columns.length });
      body.append(element('tr', {}, [cell]));
    }
    const focused = this.#table.contains(document.activeElement) ? document.activeElement.dataset.column : '';
    this.#table.replaceChildren(this.#head(), body);
    if (focused) this.#table.querySelector(`button[data-column="${focused}"]`)?.focus();
  }

  #head() {
    const cells = this.#columns.map(({ title, className = '' }, index) => {
      const button = element('button', { type: 'button', text: title, 'data-column': index });
      button.addEventListener('click', () => this.#sortBy(index));
      const { column, isDescending } = this.#sort;
      const order = isDescending ? 'descending' : 'ascending';
      const alignment = className === 'number' ? className : '';
      return element(
        'th',
        { className: alignment, scope: 'col', 'aria-sort': column === index ? order : 'none' },
        [button],
      );
    });
    return element('thead', {}, [element('tr', {}, cells)]);
  }

  /** Sorts numbers in descending order first, other values in ascending order. */
  #sortBy(index) {
    const isSame = this.#sort.column === index;
    const isNumber = this.#columns[index].className === 'number';
    this.#sort = { column: index, isDescending: isSame ? !this.#sort.isDescending : isNumber };
    this.#render();
  }

  #createRows(row) {
    const cells = this.#columns.map(({ title, className = '', cell }) =>
      element('td', { className, 'data-title': title }, [cell(row)]),
    );
    const { state, code, reason, remedy, more } = row;
    if (!reason) return [element('tr', { className: state }, cells)];
    const text = element('div', { text: code ? `${code}: ${reason}` : reason });
    if (more) text.append(' ', more);
    if (remedy) text.append(element('div', { className: 'remedy' }, prose(remedy)));
    const wide = element('td', { colspan: this.#columns.length }, [text]);
    return [
      element('tr', { className: `${state} has-reason` }, cells),
      element('tr', { className: `${state} reason` }, [wide]),
    ];
  }
}

/** Undefined values come last in both directions. */
function compare(a, b, direction) {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  const order = typeof a === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true });
  return direction * order;
}
