import type { RedisServers } from '#lib/sources/redis/redis-servers.ts';
import type { Clock } from '#lib/time/clock.ts';
import { awsSqsQueueTrigger, type SqsTriggerOptions } from './aws-sqs-queue.ts';
import { cronTrigger } from './cron.ts';
import { type ExternalTriggerOptions, externalTrigger } from './external.ts';
import type { HttpClients } from './http-clients.ts';
import { influxdbTrigger } from './influxdb.ts';
import { kubernetesWorkloadTrigger, type ListPods } from './kubernetes-workload.ts';
import { metricsApiTrigger } from './metrics-api.ts';
import { mysqlTrigger } from './mysql.ts';
import { natsJetstreamTrigger } from './nats-jetstream.ts';
import type { SqlTriggerOptions } from './postgresql.ts';
import { postgresqlTrigger } from './postgresql.ts';
import { prometheusTrigger } from './prometheus.ts';
import { type RabbitmqTriggerOptions, rabbitmqTrigger } from './rabbitmq.ts';
import { redisStreamsTrigger, redisTrigger } from './redis.ts';
import { resourceTrigger } from './resource.ts';
import type { Trigger } from './trigger.ts';

/** What triggers work with. */
export interface AllTriggersOptions
  extends SqlTriggerOptions,
    ExternalTriggerOptions,
    RabbitmqTriggerOptions,
    SqsTriggerOptions {
  readonly redis: RedisServers;
  readonly clock: Clock;
  readonly clients: HttpClients;
  /** By default of one HTTP request. */
  readonly timeoutMs: number;
  readonly listPods: ListPods;
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
