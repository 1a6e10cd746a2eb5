import type { CronHpaUiPart } from '#lib/cron-hpa/observability/cron-hpa-ui.ts';
import type { HpaUiPart } from '#lib/hpa/observability/hpa-ui.ts';
import type { MetricsUiPart } from '#lib/metrics-adapter/debug-metrics.ts';
import type { ScaledObjectsUiPart } from '#lib/scaled-objects/observability/scaled-objects-ui.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ControllersState } from './autoscaler-ui.ts';

/** What subsystems of the autoscaler have to show. */
export type AutoscalerUiPart = HpaUiPart | MetricsUiPart | CronHpaUiPart | ScaledObjectsUiPart;

/** What the page shows. */
export interface AutoscalerUiSource {
  readonly parts: readonly AutoscalerUiPart[];
  readonly state: () => ControllersState;
  readonly version: string;
  readonly clock: Clock;
}
