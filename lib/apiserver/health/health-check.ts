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

/** What the checks look at. */
export interface ServerChecks {
  /** The checks of what is served. */
  readonly own: readonly HealthCheck[];
  readonly isShuttingDown: () => boolean;
}

/**
 * All checks of a server, in the order in which Kubernetes' servers report them. To respond at all is what the
 * first four ask for: the event loop goes round. Probes know them by these names, and exclude some of them.
 */
export function allChecks({ own, isShuttingDown }: ServerChecks): readonly HealthCheck[] {
  return [
    ...ALWAYS_PASSING.map((name) => ({ name, endpoints: HEALTH_ENDPOINTS, check: () => undefined })),
    ...own,
    {
      name: 'shutdown',
      endpoints: ['readyz'],
      check: () => (isShuttingDown() ? 'process is shutting down' : undefined),
    },
  ];
}

const ALWAYS_PASSING = [
  'ping',
  'log',
  'poststarthook/max-in-flight-filter',
  'poststarthook/storage-object-count-tracker-hook',
];
