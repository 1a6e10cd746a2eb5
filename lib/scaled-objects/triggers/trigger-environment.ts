import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import type { LongResponses } from '#lib/concurrency/long-responses.ts';
import { AllowedHosts, type FindAddresses, type NetworkOptions } from '#lib/sources/network/allowed-hosts.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ListEndpoints, ListPods } from './cluster-lookups.ts';
import { type RequestDurations, requestDurations, TriggerClients } from './trigger-clients.ts';

/** Dependencies of triggers, with the shared HTTP clients. */
export interface TriggerEnvironment extends NetworkOptions {
  readonly clock: Clock;
  readonly clients: TriggerClients;
  /** Hosts beside those of SQS that receive the AWS identity of this program. */
  readonly awsIdentityHosts: readonly string[];
  /** Namespaces whose Services triggers of other namespaces may name as well; `*` for all. */
  readonly sharedServiceNamespaces: readonly string[];
  /** Default timeout of one HTTP request. */
  readonly timeoutMs: number;
  readonly listPods: ListPods;
  readonly listEndpoints: ListEndpoints;
  /**
   * Opens a source, or returns the one that the same function opened before; it is disposed of with the environment. A source
   * connects on its first query.
   */
  readonly open: <Source extends AsyncDisposable | Disposable>(
    openSource: (environment: TriggerEnvironment) => Source,
  ) => Source;
}

interface TriggerEnvironmentOptions {
  readonly clock: Clock;
  readonly userAgent: string;
  /** Hosts that triggers may query. */
  readonly allowedHosts: readonly string[];
  /** `undefined` to connect to IP addresses only, without DNS. */
  readonly findAddresses: FindAddresses | undefined;
  /** By default none. */
  readonly awsIdentityHosts?: readonly string[];
  /** By default none. */
  readonly sharedServiceNamespaces?: readonly string[];
  readonly timeoutMs: number;
  /** By default 16 concurrent long responses. */
  readonly longResponses?: LongResponses;
  readonly listPods: ListPods;
  readonly listEndpoints: ListEndpoints;
}

/** An environment with the series and the time slices of all its triggers. */
interface OpenTriggerEnvironment extends TriggerEnvironment, AsyncDisposable {
  readonly durations: RequestDurations;
  readonly share: EventLoopShare;
}

export function openTriggerEnvironment(options: TriggerEnvironmentOptions): OpenTriggerEnvironment {
  const { clock, timeoutMs, listPods, listEndpoints, findAddresses } = options;
  const share = new EventLoopShare(clock);
  const network = { allowedHosts: new AllowedHosts(options.allowedHosts), findAddresses, share };
  const stack = new AsyncDisposableStack();
  const durations = requestDurations(clock);
  const clients = stack.use(new TriggerClients({ ...options, ...network, durations }));
  const sources = new Map<unknown, AsyncDisposable | Disposable>();
  const environment: TriggerEnvironment = {
    ...{ clock, ...network, clients, timeoutMs, listPods, listEndpoints },
    awsIdentityHosts: options.awsIdentityHosts ?? [],
    sharedServiceNamespaces: options.sharedServiceNamespaces ?? [],
    open<Source extends AsyncDisposable | Disposable>(
      openSource: (environment: TriggerEnvironment) => Source,
    ): Source {
      const source = sources.get(openSource) ?? stack.use(openSource(environment));
      sources.set(openSource, source);
      return source as Source; // the map's key is what made it
    },
  };
  return { ...environment, share, durations, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
