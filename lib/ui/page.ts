import { type Html, type HtmlPart, html } from './html.ts';
import { type PageQuery, pageAddress } from './page-query.ts';

/** A page without its frame. */
interface Page {
  readonly program: string;
  readonly title: string;
  readonly query: PageQuery;
  readonly links: readonly PageLink[];
  readonly nowMs: number;
  readonly body: HtmlPart;
}

/** A link to another part of the page. */
interface PageLink {
  readonly view: string;
  readonly title: string;
  readonly summary?: UiSummary;
}

/** Often enough to follow what happens, and rarely enough to read. */
const REFRESH_SECONDS = 30;

/** Frames a page: title, links to the others, when it is from, and that it is to be looked at again. It needs no script. */
export function pageShell({ program, title, query, links, nowMs, body }: Page): Html {
  const refresh = query.isStill ? undefined : html`<meta http-equiv="refresh" content="${REFRESH_SECONDS}">`;
  const time = new Date(nowMs).toISOString().slice(11, 19);
  const other = pageAddress({ ...query, isStill: !query.isStill });
  const follow = query.isStill ? 'Follow' : 'Hold still';
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${refresh}
<title>${title} · ${program}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="ui/page.css">
</head>
<body>
<header>
<h1>${program}</h1>
<nav class="views" aria-label="Parts">${links.map((link) => linkOf(link, query))}</nav>
<div class="freshness"><span>as of ${time} UTC</span> <a href="${other}">${follow}</a></div>
</header>
<main>
${body}
</main>
</body>
</html>
`;
}

function linkOf({ view, title, summary }: PageLink, { view: current, isStill }: PageQuery): Html {
  const address = pageAddress({ view, isStill });
  const mark = view === current ? html` aria-current="page"` : undefined;
  return html`<a href="${address}"${mark}>${title}${summary && numberOf(summary)}</a>`;
}

/** How many there are; where some are in trouble, of how many these are. */
function numberOf({ count, troubled, trouble }: UiSummary): Html {
  if (troubled === 0) return html` <span class="count">${count}</span>`;
  return html` <span class="count bad" title="${troubled} ${trouble}">${troubled} of ${count}</span>`;
}

/** How many things a part of the page shows, for the overview. */
export interface UiSummary {
  readonly count: number;
  /** Of these, how many are in trouble. */
  readonly troubled: number;
  /** What trouble means here: `not ready`. */
  readonly trouble: string;
  /** Why nothing is done now, or not all of it, though nothing is in trouble: `left to another operator`. */
  readonly waiting?: string | undefined;
}

/** A part of a program's page: what one subsystem has to show. What draws it is loaded when somebody looks. */
export interface UiPart<View extends string = string, Source = unknown> {
  /** In the address: `?view=hpas`. */
  readonly view: View;
  readonly title: string;
  /** What it shows, in a sentence. */
  readonly about: string;
  /** What is drawn. */
  readonly source: Source;
  /** Is asked for each page: a look at each thing at most. */
  summary(): UiSummary;
}

/** What has something to show. */
export interface HasUi<Part extends UiPart = UiPart> {
  readonly ui: readonly Part[];
}
