import { type Html, html } from './html.ts';
import { type PageQuery, pageAddress } from './page-query.ts';

/** So many objects are on a page. */
export const PAGE_SIZE = 100;

/** One page of a list, and links to the others. */
export interface Paged<T> {
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
