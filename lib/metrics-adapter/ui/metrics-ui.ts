import type { UiPart } from '#lib/ui/ui-part.ts';
import type { DebuggedMetrics } from '../debug-metrics.ts';

/** Collected metrics on the page: as `/debug/metrics` has them. */
export function metricsUi(source: DebuggedMetrics): UiPart {
  return {
    view: 'metrics',
    title: 'Metrics',
    about: 'Metrics that HPAs ask for, collected ahead of requests',
    summary() {
      let [count, troubled] = [0, 0];
      for (const { isValid, failure } of source.collection.reports()) {
        count++;
        if (!isValid || failure) troubled++;
      }
      for (const { problems } of source.collectors.known.values()) {
        count += problems.length;
        troubled += problems.length;
      }
      return { count, troubled, trouble: 'failing or not served' };
    },
    async render(query) {
      const { renderMetrics } = await import('./render-metrics.ts');
      return renderMetrics(query, source);
    },
  };
}
