import type { Clock } from '#lib/time/clock.ts';
import { cronTrigger } from './cron.ts';
import type { HttpClients } from './http-clients.ts';
import { kubernetesWorkloadTrigger, type ListPods } from './kubernetes-workload.ts';
import { metricsApiTrigger } from './metrics-api.ts';
import { prometheusTrigger } from './prometheus.ts';
import { resourceTrigger } from './resource.ts';
import type { Trigger } from './trigger.ts';

/** What triggers work with. */
export interface AllTriggersOptions {
  readonly clock: Clock;
  readonly clients: HttpClients;
  /** By default of one HTTP request. */
  readonly timeoutMs: number;
  readonly listPods: ListPods;
}

/** Every kind of triggers that there is. */
export function allTriggers(options: AllTriggersOptions): readonly Trigger[] {
  return [
    cronTrigger(options),
    resourceTrigger('cpu'),
    resourceTrigger('memory'),
    kubernetesWorkloadTrigger(options),
    metricsApiTrigger(options),
    prometheusTrigger(options),
  ];
}
