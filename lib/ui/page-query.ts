import { type Html, html } from './html.ts';

/** What a reader wants to see, as the address of the page says it. */
export interface PageQuery {
  /** Which part of the page; empty for what stands first. */
  readonly view: string;
  readonly namespace: string;
  /** Of one object, whose namespace is told, too. */
  readonly name: string;
  /** Only objects with this in `namespace/name` are listed. */
  readonly filter: string;
  /** From 1 up. */
  readonly page: number;
  /** Whether the page is to stay as it is. */
  readonly isStill: boolean;
  /** Which parts the page has, so that none links to one that is not there. */
  readonly views: readonly string[];
}

const MOST_PAGES = 1_000_000;

/** Reads what the address of the page says; what it does not say, or says in another way, is left out. */
export function readPageQuery(query: URLSearchParams, views: readonly string[]): PageQuery {
  const text = (name: string) => query.get(name)?.trim() ?? '';
  const page = /^\d{1,7}$/.test(text('page')) ? Number(text('page')) : 1;
  return {
    view: text('view'),
    namespace: text('namespace'),
    name: text('name'),
    filter: text('filter'),
    page: Math.min(Math.max(page, 1), MOST_PAGES),
    isStill: text('refresh') === 'off',
    views,
  };
}

/** The address of a page, relative to where all of them are. */
export function pageAddress({
  view,
  namespace,
  name,
  filter,
  page = 1,
  isStill,
}: Partial<PageQuery>): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries({ view, namespace, name, filter }))
    if (value) query.set(key, value);
  if (page > 1) query.set('page', String(page));
  if (isStill) query.set('refresh', 'off');
  return `?${query}`;
}

/** A link to one object in a part of the page; its name alone where there is no such part. */
export function objectLink({ views, isStill }: PageQuery, { view, namespace, name, text }: ObjectLink): Html {
  if (!views.includes(view)) return html`${text}`;
  return html`<a href="${pageAddress({ view, namespace, name, isStill })}">${text}</a>`;
}

/** What a link leads to. */
export interface ObjectLink {
  readonly view: string;
  readonly namespace: string;
  readonly name: string;
  readonly text: string;
}

/** Whether an object is to be listed. */
export function isListed(query: PageQuery, namespace: string, name: string): boolean {
  if (query.namespace !== '' && query.namespace !== namespace) return false;
  if (query.name !== '' && query.name !== name) return false;
  return query.filter === '' || `${namespace}/${name}`.includes(query.filter);
}
