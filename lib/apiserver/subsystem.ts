import type { HealthCheck } from './health.ts';
import type { Endpoint } from './http/api-context.ts';
import type { ApiGroup } from './resources/api-group.ts';

/** A part of a program: what it serves, and what it does meanwhile. */
export interface Subsystem extends AsyncDisposable {
  readonly groups: readonly ApiGroup[];
  readonly healthChecks: readonly HealthCheck[];
  /** What it serves beside the groups, by paths. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  /** Which of these everybody may get; by default none. */
  readonly openPaths?: readonly string[];
  /** Which of these people open in browsers, which can send tokens as passwords only; by default none. */
  readonly browserPaths?: readonly string[];

  /** Begins its work, once the server listens; comes back at once. */
  start(): void;
}
