import type { Composer } from './composer.ts';
import { type Html, type HtmlPart, html } from './html.ts';
import { type PageQuery, pageAddress } from './page-query.ts';

interface Page {
  readonly program: string;
  readonly title: string;
  readonly query: PageQuery;
  readonly links: readonly PageLink[];
  readonly nowMs: number;
  readonly body: HtmlPart;
  /** Whether it is the form at `/ui/new`, which does not refresh itself. */
  readonly isForm?: boolean;
}

interface PageLink {
  readonly view: string;
  readonly title: string;
  readonly summary?: UiSummary;
}

const REFRESH_SECONDS = 30;

/** Renders a page with title, links, time and automatic refresh, all without scripts. */
export function pageShell({ program, title, query, links, nowMs, body, isForm = false }: Page): Html {
  const refresh =
    query.isPaused || isForm ? undefined : html`<meta http-equiv="refresh" content="${REFRESH_SECONDS}">`;
  const time = new Date(nowMs).toISOString().slice(11, 19);
  const toggled = pageAddress({ ...query, isPaused: !query.isPaused });
  const toggle = query.isPaused ? 'Resume refresh' : 'Pause refresh';
  const [own, pages] = isForm ? ['', '../ui'] : ['ui/', ''];
  const head = [refresh, isForm && html`<script type="module" src="copy.js"></script>`];
  const content = html`<header>
<h1>${program}</h1>
<nav class="views" aria-label="Views">${links.map((link) => renderLink(link, query, pages))}<a href="${own}new"${isForm && html` aria-current="page"`}>New object</a></nav>
<div class="freshness">${!isForm && html`<span>as of ${time} UTC</span> <a href="${toggled}">${toggle}</a>`}</div>
</header>
<main>
${body}
</main>`;
  return htmlDocument(`${title} · ${program}`, content, { own, head });
}

/** Renders a page without data, whose scripts request a token and then load the page of its address with it. */
export function signInShell(program: string, { isForm }: { readonly isForm: boolean }): Html {
  const own = isForm ? '' : 'ui/';
  const head = html`<script type="module" src="${own}signed-in-pages.js"></script>`;
  const content = html`<header><h1>${program}</h1></header>
<main><form id="access" autocomplete="off"><noscript>Signing in requires JavaScript. Behind kubectl proxy, pages work without signing in.</noscript></form></main>`;
  return htmlDocument(`Sign in · ${program}`, content, { own, head });
}

/** @param options.own where the files of the page are, relative to its address; `head` is added to the style sheet */
function htmlDocument(
  title: string,
  body: Html,
  { own, head }: { readonly own: string; readonly head: HtmlPart },
): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${own}page.css">
${head}
</head>
<body>
${body}
</body>
</html>
`;
}

function renderLink(
  { view, title, summary }: PageLink,
  { view: current, isPaused }: PageQuery,
  pages: string,
): Html {
  const address = `${pages}${pageAddress({ view, isPaused })}`;
  const mark = view === current ? html` aria-current="page"` : undefined;
  return html`<a href="${address}"${mark}>${title}${summary && renderCount(summary)}</a>`;
}

/** Shows how many objects need attention, if any, and how many there are. */
function renderCount({ count, unhealthy, problem }: UiSummary): Html {
  if (unhealthy === 0) return html` <span class="count">${count}</span>`;
  return html` <span class="count bad" title="${unhealthy} ${problem}">${unhealthy} of ${count}</span>`;
}

/** The objects of a view, counted for the overview. */
export interface UiSummary {
  readonly count: number;
  /** How many of them need attention. */
  readonly unhealthy: number;
  /** What these have in common: `not ready`. */
  readonly problem: string;
  /** Why work is paused although no object needs attention: `left to another operator`. */
  readonly waiting?: string | undefined;
}

/** The view of one subsystem on a program's page. */
export interface UiPart {
  /** In the address: `?view=hpas`. */
  readonly view: string;
  readonly title: string;
  /** Describes the view in a sentence. */
  readonly about: string;
  /** Called for each page; visits each object at most once. */
  summary(): UiSummary;
  /** Renders the list, or the object that the query names, by code that is loaded on the first call: it takes memory. */
  render(query: PageQuery): Promise<Html>;
  /** Makes objects of its kind from a form. */
  readonly composer?: Composer;
}
