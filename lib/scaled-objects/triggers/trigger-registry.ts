import { awsSqsQueueTrigger } from './aws-sqs-queue.ts';
import { resourceTrigger } from './cpu-memory.ts';
import { cronTrigger } from './cron.ts';
import { externalTrigger } from './external.ts';
import { influxdbTrigger } from './influxdb.ts';
import { kubernetesWorkloadTrigger } from './kubernetes-workload.ts';
import { metricsApiTrigger } from './metrics-api.ts';
import { mysqlTrigger } from './mysql.ts';
import { natsJetstreamTrigger } from './nats-jetstream.ts';
import { postgresqlTrigger } from './postgresql.ts';
import { prometheusTrigger } from './prometheus.ts';
import { rabbitmqTrigger } from './rabbitmq.ts';
import { redisStreamsTrigger, redisTrigger } from './redis.ts';
import type { Trigger } from './trigger.ts';
import type { TriggerEnvironment } from './trigger-environment.ts';

/** The list of triggers: a new trigger is its own file and a line here. */
const TRIGGERS: readonly ((environment: TriggerEnvironment) => Trigger)[] = [
  awsSqsQueueTrigger,
  cronTrigger,
  externalTrigger,
  () => resourceTrigger('cpu'),
  () => resourceTrigger('memory'),
  influxdbTrigger,
  kubernetesWorkloadTrigger,
  metricsApiTrigger,
  mysqlTrigger,
  natsJetstreamTrigger,
  postgresqlTrigger,
  prometheusTrigger,
  rabbitmqTrigger,
  redisTrigger,
  redisStreamsTrigger,
];

export function allTriggers(environment: TriggerEnvironment): readonly Trigger[] {
  return TRIGGERS.map((open) => open(environment));
}

/** Triggers by type. */
export class TriggerTypes {
  readonly #byType: ReadonlyMap<string, Trigger>;

  constructor(triggers: readonly Trigger[]) {
    this.#byType = new Map(
      triggers.flatMap((trigger) => trigger.types.map((type) => [type, trigger] as const)),
    );
  }

  /** Every type, sorted. */
  get names(): readonly string[] {
    return [...this.#byType.keys()].sort();
  }

  has(type: string): boolean {
    return this.#byType.has(type);
  }

  /** @throws an Error that lists the supported types */
  get(type: string): Trigger {
    const trigger = this.#byType.get(type);
    if (trigger) return trigger;
    throw new Error(`no scaler found for type: ${type}; supported types are ${this.names.join(', ')}`);
  }
}
