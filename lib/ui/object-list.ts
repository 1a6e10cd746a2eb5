import { type Html, type HtmlPart, html } from './html.ts';
import { type PageQuery, pageAddress } from './page-query.ts';
import { type Column, type Row, table } from './table.ts';

interface ObjectList<T> {
  readonly title: string;
  readonly columns: readonly Column[];
  /** The objects that match the query. */
  readonly listed: readonly T[];
  /** Whether the object is listed first. */
  readonly needsAttention: (one: T) => boolean;
  readonly rowOf: (one: T) => Row;
  /** Shown when there are no objects. */
  readonly none: string;
  /** Shown above the table. */
  readonly note?: HtmlPart;
}

/** Renders one page of a list of objects, those that need attention first, with a filter form and page links. */
export function objectList<T>(
  { title, columns, listed, needsAttention, rowOf, none, note = '' }: ObjectList<T>,
  query: PageQuery,
): Html {
  const inOrder = [...listed.filter(needsAttention), ...listed.filter((one) => !needsAttention(one))];
  const { items, links } = paged(inOrder, query);
  return html`<section>
<div class="bar"><h2>${title}</h2><span class="count">${listed.length}</span>${filterForm(query)}</div>${note}
${table(columns, items.map(rowOf), none)}
${links}
</section>`;
}

/** Renders links from an object to the list of all and to the list of its namespace. */
export function breadcrumbs({ view, namespace, name, isPaused }: PageQuery, title: string): Html {
  const all = pageAddress({ view, isPaused });
  const ofNamespace = pageAddress({ view, namespace, isPaused });
  return html`<p class="path"><a href="${all}">${title}</a> / <a href="${ofNamespace}">${namespace}</a> / <b>${name}</b></p>`;
}

export function filterForm({ view, namespace, filter, isPaused }: PageQuery): Html {
  return html`<form class="filter" role="search">
<input type="hidden" name="view" value="${view}">${isPaused && html`<input type="hidden" name="refresh" value="off">`}
<input name="namespace" value="${namespace}" placeholder="namespace" aria-label="Namespace" autocomplete="off">
<input name="filter" type="search" value="${filter}" placeholder="part of name" aria-label="Part of namespace/name" autocomplete="off">
<button>Show</button>
</form>`;
}

const PAGE_SIZE = 100;

/** One page of a list, with links to the other pages. */
interface Paged<T> {
  readonly items: readonly T[];
  readonly links: Html;
}

/** Selects the page that the query asks for; a number beyond the last page selects the last. */
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
