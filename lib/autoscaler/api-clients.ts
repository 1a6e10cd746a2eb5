import { FairShare } from '#lib/concurrency/event-loop.ts';
import { LongResponses } from '#lib/concurrency/long-responses.ts';
import { TokenBucket } from '#lib/concurrency/token-bucket.ts';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { ApiClient, type ApiClientOptions } from '#lib/kubernetes/client/api-client.ts';
import type { DryRun } from '#lib/kubernetes/client/dry-run.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What clients of the API server are made of. */
export interface ApiClientsOptions {
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly userAgent: string;
  /** By default that of the clients. */
  readonly requestTimeoutMs?: number;
  /** Of each of the two clients that have a budget. */
  readonly rate: { readonly perSecond: number; readonly burst: number };
  /** Refuses the writes of controllers by throwing, while this process does not lead. */
  readonly beforeWrite: () => void;
  /** Where nothing is to be written. */
  readonly dryRun: DryRun | undefined;
}

/**
 * The clients of the API server, one for each purpose, so that no purpose delays another. Within a budget, namespaces get
 * their requests sent round robin.
 */
export interface ApiClients extends AsyncDisposable {
  /** What controllers watch, read and write: scales, statuses, HPAs, Jobs. */
  readonly controllers: ApiClient;
  /** What triggers refer to: Secrets, ConfigMaps, tokens, pod templates, pods. A budget of its own, for tenants choose how many. */
  readonly references: ApiClient;
  /** Events; they are written one at a time. */
  readonly events: ApiClient;
  /** The lease, which waits for no budget. */
  readonly lease: ApiClient;
}

/** How often a request is sent again that the API server puts off. */
const MAX_RETRIES = 5;
/** Of 16 MiB each where they are pages of lists; half of them of one tenant. */
const MAX_LONG_RESPONSES = 4;

/** Opens them; disposing ends what they have under way. */
export function openApiClients(options: ApiClientsOptions): ApiClients {
  const { access, clock, userAgent, rate, beforeWrite, dryRun, requestTimeoutMs } = options;
  const common = { access, clock, dryRun, ...(requestTimeoutMs !== undefined && { requestTimeoutMs }) };
  const stack = new AsyncDisposableStack();
  const open = (purpose: string, more: Partial<ApiClientOptions> = {}) =>
    stack.use(new ApiClient({ ...common, userAgent: `${userAgent} ${purpose}`, ...more }));
  const paced = () => ({ rateLimit: new TokenBucket({ clock, ...rate }), maxRetries: MAX_RETRIES });
  return {
    controllers: open('controllers', { ...paced(), beforeWrite }),
    references: open('triggers', {
      ...paced(),
      longResponses: new LongResponses({ maxConcurrent: MAX_LONG_RESPONSES }),
      share: new FairShare(clock),
    }),
    events: open('events'),
    lease: open('leader-election'),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
