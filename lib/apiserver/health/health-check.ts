/** The probes' paths. */
export const HEALTH_ENDPOINTS = ['healthz', 'livez', 'readyz'] as const;

/** One of the paths that probes ask. */
export type HealthEndpoint = (typeof HEALTH_ENDPOINTS)[number];

/** Something that must be in order for the server to be healthy, alive or ready. */
export interface HealthCheck {
  /** Part of the path of its own: `/livez/NAME`. */
  readonly name: string;
  /** Which endpoints ask it. */
  readonly endpoints: readonly HealthEndpoint[];
  /** @returns why it is not in order; `undefined` when it is */
  check(): string | undefined;
}
