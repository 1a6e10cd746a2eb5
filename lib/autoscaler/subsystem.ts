import type { ApiGroup } from '#lib/apiserver/api-group.ts';
import type { HealthCheck } from '#lib/apiserver/health/health-check.ts';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';

/** A part of the autoscaler: what it serves, and what it does. */
export interface Subsystem extends AsyncDisposable {
  /** API groups that it serves. */
  readonly groups: readonly ApiGroup[];
  readonly healthChecks: readonly HealthCheck[];
  /** What it serves beside the groups, by paths. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;

  /** Begins what every replica does: following objects, collecting; comes back at once. */
  start(): void;

  /** What only the leader does; comes back once the signal has aborted and nothing acts any more. */
  lead(signal: AbortSignal): Promise<void>;
}
