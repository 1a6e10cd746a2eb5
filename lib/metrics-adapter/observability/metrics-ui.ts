import type { UiPart } from '#lib/ui/page.ts';
import type { DebuggedMetrics } from './debug-metrics.ts';

/** Collected metrics on the page, as in `/debug/metrics`. */
export function metricsUi(source: DebuggedMetrics): UiPart {
  return {
    view: 'metrics',
    title: 'Metrics',
    about: 'Custom and external metrics of HPAs, which are collected before they are requested',
    summary() {
      let [count, unhealthy] = [0, 0];
      for (const { isValid, failure } of source.collection.reports()) {
        count++;
        if (!isValid || failure) unhealthy++;
      }
      for (const { problems } of source.collectors.collected.values()) {
        count += problems.length;
        unhealthy += problems.length;
      }
      return { count, unhealthy, problem: 'failing or not served' };
    },
    async render(query) {
      const { renderMetrics } = await import('./metrics-page.ts');
      return renderMetrics(query, source);
    },
  };
}
