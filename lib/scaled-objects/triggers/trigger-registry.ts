import type { RedisServers } from '#lib/sources/redis/redis-servers.ts';
import type { Clock } from '#lib/time/clock.ts';
import { awsSqsQueueTrigger, type SqsTriggerOptions } from './aws-sqs-queue.ts';
import type { ListEndpoints, ListPods } from './cluster-lookups.ts';
import { resourceTrigger } from './cpu-memory.ts';
import { cronTrigger } from './cron.ts';
import { type ExternalTriggerOptions, externalTrigger } from './external.ts';
import { influxdbTrigger } from './influxdb.ts';
import { kubernetesWorkloadTrigger } from './kubernetes-workload.ts';

import { metricsApiTrigger } from './metrics-api.ts';
import { mysqlTrigger } from './mysql.ts';
import { natsJetstreamTrigger } from './nats-jetstream.ts';
import { postgresqlTrigger, type SqlTriggerOptions } from './postgresql.ts';
import { prometheusTrigger } from './prometheus.ts';
import { type RabbitmqTriggerOptions, rabbitmqTrigger } from './rabbitmq.ts';
import { redisStreamsTrigger, redisTrigger } from './redis.ts';
import type { Trigger } from './trigger.ts';
import type { TriggerClients } from './trigger-clients.ts';

/** What triggers work with. */
export interface AllTriggersOptions
  extends SqlTriggerOptions,
    ExternalTriggerOptions,
    RabbitmqTriggerOptions,
    SqsTriggerOptions {
  readonly redis: RedisServers;
  readonly clock: Clock;
  readonly clients: TriggerClients;
  /** By default of one HTTP request. */
  readonly timeoutMs: number;
  readonly listPods: ListPods;
  readonly listEndpoints: ListEndpoints;
}

/** Every kind of triggers that there is. */
export function allTriggers(options: AllTriggersOptions): readonly Trigger[] {
  return [
    awsSqsQueueTrigger(options),
    cronTrigger(options),
    externalTrigger(options),
    resourceTrigger('cpu'),
    resourceTrigger('memory'),
    influxdbTrigger(options),
    kubernetesWorkloadTrigger(options),
    metricsApiTrigger(options),
    mysqlTrigger(options),
    natsJetstreamTrigger(options),
    postgresqlTrigger(options),
    prometheusTrigger(options),
    rabbitmqTrigger(options),
    redisTrigger(options),
    redisStreamsTrigger(options),
  ];
}

/** The triggers that there are, by their types. */
export class TriggerTypes {
  readonly #byType: ReadonlyMap<string, Trigger>;

  constructor(triggers: readonly Trigger[]) {
    this.#byType = new Map(
      triggers.flatMap((trigger) => trigger.types.map((type) => [type, trigger] as const)),
    );
  }

  /** @throws an Error that names the types that there are */
  get(type: string): Trigger {
    const trigger = this.#byType.get(type);
    if (trigger) return trigger;
    const known = [...this.#byType.keys()].sort().join(', ');
    throw new Error(`no scaler found for type: ${type}; there are ${known}`);
  }
}
