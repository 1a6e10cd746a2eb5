import { notFound } from '#lib/apiserver/http/status-error.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type Html, type HtmlPart, html } from '#lib/ui/html.ts';
import { pageShell, type UiPart, type UiSummary } from '#lib/ui/page.ts';
import { type PageQuery, pageAddress, readPageQuery } from '#lib/ui/page-query.ts';
import { ago, lasting } from '#lib/ui/relative-time.ts';
import { type Column, facts, stateWord, table } from '#lib/ui/table.ts';

/** Renders the page that the address selects. @throws {StatusError} 404 for an unknown view or object */
export async function renderPage(address: URLSearchParams, source: AutoscalerUiSource): Promise<Buffer> {
  const { clock, parts } = source;
  const query = readPageQuery(
    address,
    parts.map(({ view }) => view),
  );
  const summaries = parts.map((part) => ({ part, summary: part.summary() }));
  const found = parts.find(({ view }) => view === query.view);
  if (!found && query.view !== '') throw notFound({ group: '', resource: 'views' }, query.view);
  const links = summaries.map(({ part: { view, title }, summary }) => ({ view, title, summary }));
  const body = found ? await found.render(query) : renderOverview(summaries, source);
  const page = pageShell({
    ...{ program: 'autoscaler', query, body, nowMs: clock.nowMs() },
    title: titleOf(found, query),
    links: [{ view: '', title: 'Overview' }, ...links],
  });
  return Buffer.from(page.toString());
}

function titleOf(part: UiPart | undefined, { namespace, name }: PageQuery): string {
  if (!part) return 'Overview';
  return name === '' ? part.title : `${namespace}/${name}`;
}

/** A view with its summary. */
interface SummarizedPart {
  readonly part: UiPart;
  readonly summary: UiSummary;
}

const COLUMNS: readonly Column[] = [
  { title: 'State' },
  { title: 'View', className: 'name' },
  { title: 'Count', className: 'number' },
  { title: 'Problems', className: 'text' },
  { title: 'Contents', className: 'text' },
];

/** Renders the state of this replica and the health of its views. */
export function renderOverview(
  parts: readonly SummarizedPart[],
  { state, version, clock }: AutoscalerUiSource,
): Html {
  const { identity, isLeader, leader, leaderSince, controllers, startedAt } = state();
  const nowMs = clock.nowMs();
  const since = (time: string | undefined): HtmlPart =>
    time === undefined ? '' : html` ${lasting(Date.parse(time), nowMs)}`;
  const acts = isLeader
    ? html`${stateWord('served', 'This replica')}${since(leaderSince)}`
    : html`${stateWord('waiting', 'Standby')}: ${leader ? html`${leader} is the leader${since(leaderSince)}` : 'no leader'}`;
  const rows = parts.map(({ part: { view, title, about }, summary }) => ({
    cells: [
      renderState(summary),
      html`<a href="${pageAddress({ view })}">${title}</a>`,
      summary.count,
      formatProblems(summary),
      about,
    ],
  }));
  return html`<section>
<div class="bar"><h2>This replica</h2></div>
${facts([
  ['Replica', identity],
  ['Version', version],
  ['Started', ago(Date.parse(startedAt), nowMs)],
  ['Leader', acts],
  ['Controllers', controllers.length > 0 ? controllers.join(', ') : 'none: serves metrics only'],
])}
</section>
<section>
<div class="bar"><h2>Views</h2></div>
${table(COLUMNS, rows, 'None: all are disabled by flags.')}
</section>`;
}

function renderState({ unhealthy, waiting }: UiSummary): Html {
  if (unhealthy > 0) return stateWord('failing', 'Needs attention');
  return waiting === undefined ? stateWord('served', 'Healthy') : stateWord('waiting', 'Paused');
}

function formatProblems({ unhealthy, problem, waiting }: UiSummary): string {
  const found = [unhealthy > 0 && `${unhealthy} ${problem}`, waiting].filter(Boolean);
  return found.length > 0 ? found.join('; ') : 'none';
}

export interface AutoscalerUiSource {
  /** In the order of the page. */
  readonly parts: readonly UiPart[];
  readonly state: () => ControllersState;
  readonly version: string;
  readonly clock: Clock;
}

/** Leadership and controllers of this replica. */
export interface ControllersState {
  readonly identity: string;
  readonly isLeader: boolean;
  /** Identity of the lease's holder, if it has been observed. */
  readonly leader: string | undefined;
  /** RFC 3339. */
  readonly leaderSince: string | undefined;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly controllers: readonly string[];
}
