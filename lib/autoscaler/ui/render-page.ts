import { notFound } from '#lib/apiserver/http/status-error.ts';
import { renderCronHpas } from '#lib/cron-hpa/observability/render-cron-hpas.ts';
import { renderHpas } from '#lib/hpa/observability/render-hpas.ts';
import { renderMetrics } from '#lib/metrics-adapter/render-metrics.ts';
import { renderScaledObjects } from '#lib/scaled-objects/observability/render-scaled-objects.ts';
import type { Html } from '#lib/ui/html.ts';
import { pageShell, type UiPart } from '#lib/ui/page.ts';
import { type PageQuery, readPageQuery } from '#lib/ui/page-query.ts';
import type { AutoscalerUiPart, AutoscalerUiSource } from './autoscaler-ui-source.ts';
import { renderOverview } from './render-overview.ts';

/** The page as its address says, as HTML. @throws {StatusError} 404 where there is no such part or object */
export function renderPage(address: URLSearchParams, source: AutoscalerUiSource): Buffer {
  const { parts, clock } = source;
  const query = readPageQuery(
    address,
    parts.map(({ view }) => view),
  );
  const summaries = parts.map((part) => ({ part, summary: part.summary() }));
  const found = parts.find(({ view }) => view === query.view);
  if (!found && query.view !== '') throw notFound({ group: '', resource: 'views' }, query.view);
  const links = summaries.map(({ part: { view, title }, summary }) => ({ view, title, summary }));
  const body = found ? renderPart(found, query) : renderOverview(summaries, source);
  const page = pageShell({
    ...{ program: 'autoscaler', query, body, nowMs: clock.nowMs() },
    title: titleOf(found, query),
    links: [{ view: '', title: 'Overview' }, ...links],
  });
  return Buffer.from(page.toString());
}

/** All that draws is here: loaded as one file, not as many that would cost every run of the program memory. */
function renderPart(part: AutoscalerUiPart, query: PageQuery): Html {
  switch (part.view) {
    case 'hpas':
      return renderHpas(query, part.source);
    case 'metrics':
      return renderMetrics(query, part.source);
    case 'cronhpas':
      return renderCronHpas(query, part.source);
    case 'scaledobjects':
      return renderScaledObjects(query, part.source);
  }
}

function titleOf(part: UiPart | undefined, { namespace, name }: PageQuery): string {
  if (!part) return 'Overview';
  return name === '' ? part.title : `${namespace}/${name}`;
}
