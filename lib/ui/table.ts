import { type Html, type HtmlPart, html } from './html.ts';

export interface Column {
  readonly title: string;
  /** Alignment and style of its cells. */
  readonly className?: 'number' | 'name' | 'faint' | 'mono' | 'text';
}

/** A row, with an optional note in a line of its own below. */
export interface Row {
  readonly cells: readonly HtmlPart[];
  readonly state?: RowState;
  readonly note?: HtmlPart;
}

/** State of an object; also a CSS class. */
export type RowState = 'served' | 'failing' | 'waiting';

/** Renders a table, of which each row is a card with the titles of its cells on a phone; `none` is shown if there are no rows. */
export function table(columns: readonly Column[], rows: readonly Row[], none: string): Html {
  const head = columns.map(
    ({ title, className }) => html`<th${classes(className)} scope="col">${title}</th>`,
  );
  const body =
    rows.length === 0
      ? html`<tr><td class="empty" colspan="${columns.length}">${none}</td></tr>`
      : rows.map((row) => renderRows(row, columns));
  return html`<div class="scroll"><table class="plain"><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}

/** Renders a colored label. */
export function stateWord(state: RowState, word: string): Html {
  return html`<span class="state ${state}">${word}</span>`;
}

function renderRows({ cells, state, note }: Row, columns: readonly Column[]): Html {
  const data = cells.map((cell, index) => {
    const { title, className } = columns[index] ?? {};
    return html`<td${classes(className)} data-title="${title}">${cell}</td>`;
  });
  const names = [state === 'served' ? undefined : state, note ? 'has-reason' : undefined];
  const row = html`<tr${classes(...names)}>${data}</tr>`;
  if (!note) return row;
  return html`${row}<tr${classes(names[0], 'reason')}><td colspan="${columns.length}"><div>${note}</div></td></tr>`;
}

function classes(...names: readonly (string | undefined)[]): Html | undefined {
  const all = names.filter((name) => name !== undefined);
  return all.length === 0 ? undefined : html` class="${all.join(' ')}"`;
}

/** Renders a list of terms and descriptions. */
export function facts(entries: readonly (readonly [term: string, description: HtmlPart])[]): Html {
  return html`<dl class="facts">${entries.map(([term, description]) => html`<dt>${term}</dt><dd>${description}</dd>`)}</dl>`;
}
