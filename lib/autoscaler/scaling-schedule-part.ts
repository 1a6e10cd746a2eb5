import type { EventRecorder } from '#lib/control/event-recorder.ts';
import type { ScaleClient } from '#lib/control/scale-client.ts';
import type { Subsystem } from '#lib/control/subsystem.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { HPAS } from '#lib/kubernetes/objects/hpa-versions.ts';
import { FollowedSchedules } from '#lib/metrics-adapter/scaling-schedules/scaling-schedule.ts';
import {
  SCHEDULED_HPAS,
  ScheduleKeeper,
} from '#lib/metrics-adapter/scaling-schedules/scaling-schedule-controller.ts';
import type { ScheduleDefaults } from '#lib/metrics-adapter/scaling-schedules/scheduled-value.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What scaling schedules need as a part of the autoscaler. */
export interface ScalingSchedulePartEnvironment {
  readonly client: ApiClient;
  readonly informers: SharedInformers;
  readonly scales: ScaleClient;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly defaults: ScheduleDefaults;
  readonly tolerance: number;
  readonly relistMs: number;
}

/** Scaling schedules as a part of the autoscaler: every replica follows them, and the leader keeps them. */
export function scalingSchedulePart(environment: ScalingSchedulePartEnvironment): Subsystem<never> {
  const { informers, relistMs } = environment;
  const schedules = new FollowedSchedules(environment);
  const hpas = informers.get(HPAS, { ...SCHEDULED_HPAS, relistMs });
  return {
    name: 'scalingschedule',
    groups: [],
    healthChecks: [],
    endpoints: new Map(),
    start() {
      schedules.start();
      hpas.start();
    },
    lead: (signal) => new ScheduleKeeper({ ...environment, schedules, hpas }).run(signal),
    async [Symbol.asyncDispose]() {},
  };
}
