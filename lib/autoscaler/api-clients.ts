import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { LongResponses } from '#lib/concurrency/long-responses.ts';
import { TokenBucket } from '#lib/concurrency/token-bucket.ts';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { ApiClient, type ApiClientOptions } from '#lib/kubernetes/client/api-client.ts';
import type { DryRun } from '#lib/kubernetes/client/dry-run.ts';
import type { Clock } from '#lib/time/clock.ts';

interface ApiClientsOptions {
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly userAgent: string;
  /** By default the timeout of the client. */
  readonly requestTimeoutMs?: number;
  /** The rate limit of each of the two rate-limited clients. */
  readonly rate: { readonly perSecond: number; readonly burst: number };
  /** Called before writes of controllers; throws while this process does not lead. */
  readonly beforeWrite: () => void;
  /** Set in a dry run. */
  readonly dryRun: DryRun | undefined;
}

/**
 * API server clients, one per purpose, so that no purpose delays another. Rate-limited clients serve namespaces round robin.
 */
interface ApiClients extends AsyncDisposable {
  /** For resources of controllers: scales, statuses, HPAs, Jobs. */
  readonly controllers: ApiClient;
  /** For references of triggers: Secrets, ConfigMaps, tokens, pods. Rate-limited separately, as tenants choose their number. */
  readonly references: ApiClient;
  /** For events, written one at a time. */
  readonly events: ApiClient;
  /** For the lease; not rate-limited. */
  readonly lease: ApiClient;
}

/** Retries of a request that the API server throttles. */
const MAX_RETRIES = 5;
/** Of 16 MiB each where they are pages of lists; half of them of one tenant. */
const MAX_LONG_RESPONSES = 4;

/** Opens the clients; disposing aborts their requests. */
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
      share: new EventLoopShare(clock),
    }),
    events: open('events'),
    lease: open('leader-election'),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
