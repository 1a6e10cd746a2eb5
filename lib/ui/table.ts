import { type Html, type HtmlPart, html } from './html.ts';

/** A column of a table. */
export interface Column {
  readonly title: string;
  /** How its cells look: numbers stand at their ends, and amounts below one another. */
  readonly className?: 'number' | 'name' | 'faint' | 'mono' | 'text';
}

/** A row of a table, and what is to be said of it below. */
export interface Row {
  readonly cells: readonly HtmlPart[];
  readonly state?: RowState;
  readonly note?: HtmlPart;
}

/** How a thing is: what fails stands out. */
export type RowState = 'served' | 'failing' | 'waiting';

/** A table that can be scrolled where the window is narrower; without rows, a word on that. */
export function table(columns: readonly Column[], rows: readonly Row[], none: string): Html {
  const head = columns.map(
    ({ title, className }) => html`<th${classes(className)} scope="col">${title}</th>`,
  );
  const body =
    rows.length === 0
      ? html`<tr><td class="empty" colspan="${columns.length}">${none}</td></tr>`
      : rows.map((row) => rowsOf(row, columns));
  return html`<div class="scroll"><table class="plain"><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}

/** A word on how a thing is, with its colour. */
export function stateWord(state: RowState, word: string): Html {
  return html`<span class="state ${state}">${word}</span>`;
}

function rowsOf({ cells, state, note }: Row, columns: readonly Column[]): Html {
  const told = cells.map((cell, place) => html`<td${classes(columns[place]?.className)}>${cell}</td>`);
  const names = [state === 'served' ? undefined : state, note ? 'has-reason' : undefined];
  const row = html`<tr${classes(...names)}>${told}</tr>`;
  if (!note) return row;
  return html`${row}<tr${classes(names[0], 'reason')}><td colspan="${columns.length}"><div>${note}</div></td></tr>`;
}

function classes(...names: readonly (string | undefined)[]): Html | undefined {
  const all = names.filter((name) => name !== undefined);
  return all.length === 0 ? undefined : html` class="${all.join(' ')}"`;
}

/** What is to be said of one thing, by what it is about. */
export function facts(entries: readonly (readonly [what: string, told: HtmlPart])[]): Html {
  return html`<dl class="facts">${entries.map(([what, told]) => html`<dt>${what}</dt><dd>${told}</dd>`)}</dl>`;
}
