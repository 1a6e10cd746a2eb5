import { filterForm } from './filter-form.ts';
import { type Html, html } from './html.ts';
import type { PageQuery } from './page-query.ts';
import { paged } from './paged.ts';
import { type Column, type Row, table } from './table.ts';

/** Objects as a page lists them. */
export interface ObjectList<T> {
  readonly title: string;
  readonly columns: readonly Column[];
  /** Those that the reader wants to see. */
  readonly listed: readonly T[];
  /** Whether it is to stand before those that are well. */
  readonly isTroubled: (one: T) => boolean;
  readonly rowOf: (one: T) => Row;
  /** What is said where there are none. */
  readonly none: string;
}

/** One page of a list of objects, those in trouble first, with what filters it and leads to the other pages. */
export function objectList<T>(
  { title, columns, listed, isTroubled, rowOf, none }: ObjectList<T>,
  query: PageQuery,
): Html {
  const inOrder = [...listed.filter(isTroubled), ...listed.filter((one) => !isTroubled(one))];
  const { items, links } = paged(inOrder, query);
  return html`<section>
<div class="bar"><h2>${title}</h2><span class="count">${listed.length}</span>${filterForm(query)}</div>
${table(columns, items.map(rowOf), none)}
${links}
</section>`;
}
