import { FairShare } from '#lib/concurrency/event-loop.ts';
import { ExternalScalers } from '#lib/sources/external-scaler/external-scalers.ts';
import { HttpClient } from '#lib/sources/http/http-client.ts';
import { LongResponses } from '#lib/sources/http/receive-response.ts';
import { AllowedHosts, type FindAddresses } from '#lib/sources/network/allowed-hosts.ts';
import { AmqpBrokers } from '#lib/sources/rabbitmq/amqp-brokers.ts';
import { RedisServers } from '#lib/sources/redis/redis-servers.ts';
import { SqlDatabases } from '#lib/sources/sql/sql-database.ts';
import { SqsRegions } from '#lib/sources/sqs/sqs-region.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ListEndpoints, ListPods } from './cluster-lookups.ts';

import { type RequestDurations, requestDurations, TriggerClients } from './trigger-clients.ts';
import type { AllTriggersOptions } from './trigger-registry.ts';

/** What sources are opened with. */
export interface TriggerSourcesOptions {
  readonly clock: Clock;
  readonly userAgent: string;
  /** Which hosts triggers may have asked. */
  readonly allowedHosts: readonly string[];
  /** `undefined` where only addresses are dialled, and no names. */
  readonly findAddresses: FindAddresses | undefined;
  /** Which hosts, beside those of SQS, see the AWS identity of this program; by default none. */
  readonly awsIdentityHosts?: readonly string[];
  /** By default of one HTTP request. */
  readonly timeoutMs: number;
  readonly listPods: ListPods;
  readonly listEndpoints: ListEndpoints;
}

/** The clients of everything that triggers ask; none connects before it is asked. */
export function openTriggerSources(
  options: TriggerSourcesOptions,
): AllTriggersOptions &
  AsyncDisposable & { readonly durations: RequestDurations; readonly share: FairShare } {
  const { clock, userAgent, timeoutMs, listPods, listEndpoints, findAddresses } = options;
  const allowedHosts = new AllowedHosts(options.allowedHosts);
  const network = { allowedHosts, findAddresses };
  const stack = new AsyncDisposableStack();
  const share = new FairShare(clock);
  const http = { clock, userAgent, ...network, share, longResponses: new LongResponses() };
  const durations = requestDurations(clock);
  return {
    ...{ clock, ...network, timeoutMs, listPods, listEndpoints, durations, share },
    clients: stack.use(
      new TriggerClients((credentials) => new HttpClient({ ...http, credentials }), {
        ...{ clock, durations },
      }),
    ),
    brokers: stack.use(new AmqpBrokers({ clock, ...network })),
    scalers: stack.use(new ExternalScalers({ clock, ...network })),
    regions: stack.use(new SqsRegions({ hosts: options.awsIdentityHosts ?? [] })),
    redis: stack.use(new RedisServers({ clock, ...network })),
    databases: stack.use(new SqlDatabases({ clock })),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
