import { notFound } from '#lib/apiserver/errors/failures.ts';
import { type PageQuery, readPageQuery } from '#lib/ui/page-query.ts';
import { pageShell } from '#lib/ui/page-shell.ts';
import type { UiPart } from '#lib/ui/ui-part.ts';
import type { AutoscalerUiSource } from './autoscaler-ui.ts';
import { renderOverview } from './render-overview.ts';

/** The page as its address says, as HTML. @throws {StatusError} 404 where there is no such part or object */
export async function renderPage(address: URLSearchParams, source: AutoscalerUiSource): Promise<Buffer> {
  const { parts, clock } = source;
  const query = readPageQuery(
    address,
    parts.map(({ view }) => view),
  );
  const summaries = parts.map((part) => ({ part, summary: part.summary() }));
  const found = parts.find(({ view }) => view === query.view);
  if (!found && query.view !== '') throw notFound({ group: '', resource: 'views' }, query.view);
  const links = summaries.map(({ part: { view, title }, summary: { count, troubled } }) => ({
    ...{ view, title, count },
    isTroubled: troubled > 0,
  }));
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
