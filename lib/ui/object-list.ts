import { type Html, html } from './html.ts';
import { type PageQuery, pageAddress } from './page-query.ts';
import { type Column, type Row, table } from './table.ts';

/** Objects as a page lists them. */
interface ObjectList<T> {
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

/** The way back from one object to the list of all, and to those of its namespace. */
export function breadcrumbs({ view, namespace, name, isStill }: PageQuery, title: string): Html {
  const all = pageAddress({ view, isStill });
  const ofNamespace = pageAddress({ view, namespace, isStill });
  return html`<p class="path"><a href="${all}">${title}</a> / <a href="${ofNamespace}">${namespace}</a> / <b>${name}</b></p>`;
}

/** A field for what is to be listed; sending it leads to the list of these. */
export function filterForm({ view, namespace, filter, isStill }: PageQuery): Html {
  return html`<form class="filter" role="search">
<input type="hidden" name="view" value="${view}">${isStill && html`<input type="hidden" name="refresh" value="off">`}
<input name="namespace" value="${namespace}" placeholder="namespace" aria-label="Namespace" autocomplete="off">
<input name="filter" type="search" value="${filter}" placeholder="part of name" aria-label="Part of namespace/name" autocomplete="off">
<button>Show</button>
</form>`;
}

/** So many objects are on a page. */
const PAGE_SIZE = 100;

/** One page of a list, and links to the others. */
interface Paged<T> {
  readonly items: readonly T[];
  readonly links: Html;
}

/** Cuts a list to the page that a reader wants; one beyond the last is the last. */
export function paged<T>(all: readonly T[], query: PageQuery): Paged<T> {
  const pages = Math.max(1, Math.ceil(all.length / PAGE_SIZE));
  const page = Math.min(query.page, pages);
  const items = all.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
  if (pages === 1) return { items, links: html`` };
  const link = (to: number, word: string) =>
    to < 1 || to > pages
      ? html`<span class="faint">${word}</span>`
      : html`<a href="${pageAddress({ ...query, page: to })}">${word}</a>`;
  const first = (page - 1) * PAGE_SIZE + 1;
  const links = html`<nav class="pages" aria-label="Pages">${link(page - 1, '← previous')} <span>${first} to ${
    first + items.length - 1
  } of ${all.length}</span> ${link(page + 1, 'next →')}</nav>`;
  return { items, links };
}
