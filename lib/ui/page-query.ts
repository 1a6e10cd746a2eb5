import { type Html, html } from './html.ts';

/** The query parameters of a page. */
export interface PageQuery {
  /** The selected part of the page; empty for the overview. */
  readonly view: string;
  readonly namespace: string;
  /** Selects one object, together with `namespace`. */
  readonly name: string;
  /** Lists only objects whose `namespace/name` contains it. */
  readonly filter: string;
  /** Starts at 1. */
  readonly page: number;
  /** Whether automatic refresh is paused. */
  readonly isPaused: boolean;
  /** The views that the page has; others are not linked. */
  readonly views: readonly string[];
}

const MAX_PAGES = 1_000_000;

/** Parses query parameters; absent or invalid ones have no effect. */
export function readPageQuery(query: URLSearchParams, views: readonly string[]): PageQuery {
  const text = (name: string) => query.get(name)?.trim() ?? '';
  const page = /^\d{1,7}$/.test(text('page')) ? Number(text('page')) : 1;
  return {
    view: text('view'),
    namespace: text('namespace'),
    name: text('name'),
    filter: text('filter'),
    page: Math.min(Math.max(page, 1), MAX_PAGES),
    isPaused: text('refresh') === 'off',
    views,
  };
}

/** Formats a relative address of a page. */
export function pageAddress({
  view,
  namespace,
  name,
  filter,
  page = 1,
  isPaused,
}: Partial<PageQuery>): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries({ view, namespace, name, filter }))
    if (value) query.set(key, value);
  if (page > 1) query.set('page', String(page));
  if (isPaused) query.set('refresh', 'off');
  return `?${query}`;
}

/** Renders a link to an object; plain text if the page does not have its view. */
export function objectLink(
  { views, isPaused }: PageQuery,
  { view, namespace, name, text }: ObjectLink,
): Html {
  if (!views.includes(view)) return html`${text}`;
  return html`<a href="${pageAddress({ view, namespace, name, isPaused })}">${text}</a>`;
}

interface ObjectLink {
  readonly view: string;
  readonly namespace: string;
  readonly name: string;
  readonly text: string;
}

/** Whether an object matches the query. */
export function isListed(query: PageQuery, namespace: string, name: string): boolean {
  if (query.namespace !== '' && query.namespace !== namespace) return false;
  if (query.name !== '' && query.name !== name) return false;
  return query.filter === '' || `${namespace}/${name}`.includes(query.filter);
}
