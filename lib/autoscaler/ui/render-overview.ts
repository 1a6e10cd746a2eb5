import { type Html, type HtmlPart, html } from '#lib/ui/html.ts';
import type { UiPart, UiSummary } from '#lib/ui/page.ts';
import { pageAddress } from '#lib/ui/page-query.ts';
import { ago, lasting } from '#lib/ui/relative-time.ts';
import { type Column, facts, stateWord, table } from '#lib/ui/table.ts';
import type { AutoscalerUiSource } from './autoscaler-ui-source.ts';

/** A part of the page, and what it has to say in short. */
export interface SummarizedPart {
  readonly part: UiPart;
  readonly summary: UiSummary;
}

const COLUMNS: readonly Column[] = [
  { title: 'State' },
  { title: 'Part', className: 'name' },
  { title: 'Count', className: 'number' },
  { title: 'In trouble', className: 'text' },
  { title: 'What it shows', className: 'faint' },
];

/** What runs here, whether this replica acts, and how the parts are. */
export function renderOverview(
  parts: readonly SummarizedPart[],
  { state, version, clock }: AutoscalerUiSource,
): Html {
  const { identity, isLeader, leader, leaderSince, controllers, startedAt } = state();
  const nowMs = clock.nowMs();
  const since = (time: string | undefined): HtmlPart =>
    time === undefined ? '' : html` ${lasting(Date.parse(time), nowMs)}`;
  const acts = isLeader
    ? html`${stateWord('served', 'acts')}${since(leaderSince)}`
    : html`${stateWord('waiting', 'stands by')}: ${leader ? html`${leader} acts${since(leaderSince)}` : 'nobody has the lease'}`;
  const rows = parts.map(({ part: { view, title, about }, summary }) => ({
    cells: [
      stateOf(summary),
      html`<a href="${pageAddress({ view })}">${title}</a>`,
      summary.count,
      troubleOf(summary),
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
  ['Controllers', controllers.length > 0 ? controllers.join(', ') : 'none: metrics alone'],
])}
</section>
<section>
<div class="bar"><h2>What it follows</h2></div>
${table(COLUMNS, rows, 'Nothing: its flags switch everything off.')}
</section>`;
}

function stateOf({ troubled, waiting }: UiSummary): Html {
  if (troubled > 0) return stateWord('failing', 'look here');
  return waiting === undefined ? stateWord('served', 'well') : stateWord('waiting', 'waits');
}

function troubleOf({ troubled, trouble, waiting }: UiSummary): string {
  const found = [troubled > 0 && `${troubled} ${trouble}`, waiting].filter(Boolean);
  return found.length > 0 ? found.join('; ') : 'none';
}
