import type { EventRecorder } from '#lib/control/event-recorder.ts';
import type { ScaleClient } from '#lib/control/scale-client.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { Informer } from '#lib/kubernetes/informer/informer.ts';
import { findHpas } from '#lib/kubernetes/informer/wait-until-served.ts';
import { FollowedSchedules } from '#lib/metrics-adapter/scaling-schedules/scaling-schedule.ts';
import {
  readScheduledHpa,
  type ScheduledHpa,
  ScheduleKeeper,
} from '#lib/metrics-adapter/scaling-schedules/scaling-schedule-controller.ts';
import type { ScheduleDefaults } from '#lib/metrics-adapter/scaling-schedules/scheduled-value.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { LeaderSubsystem } from './leader-subsystem.ts';

/** What scaling schedules need as a part of the autoscaler. */
export interface ScalingSchedulePartEnvironment {
  readonly client: ApiClient;
  readonly mapper: RestMapper;
  readonly scales: ScaleClient;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly defaults: ScheduleDefaults;
  readonly tolerance: number;
  readonly relistMs: number;
}

/** Scaling schedules as a part of the autoscaler: every replica follows them, and the leader keeps them. */
export function scalingSchedulePart(
  environment: ScalingSchedulePartEnvironment,
): LeaderSubsystem & { readonly schedules: FollowedSchedules } {
  const { clock, logger } = environment;
  const schedules = new FollowedSchedules(environment);
  const disposal = new AbortController();
  let hpas: Informer<ScheduledHpa> | undefined;
  let following: Promise<void> = Promise.resolve();
  const follow = async () => {
    const path = collectionPath(await findHpas({ ...environment, signal: disposal.signal }));
    hpas = new Informer({ ...environment, collection: { path }, transform: readScheduledHpa });
    hpas.start();
  };
  return {
    schedules,
    groups: [],
    healthChecks: [],
    endpoints: new Map(),
    start() {
      schedules.start();
      following = follow().catch((error: unknown) => {
        if (!disposal.signal.aborted) logger.error('Cannot follow HPAs', error);
      });
    },
    async lead(signal) {
      const followed = { values: () => hpas?.values() ?? [] };
      await new ScheduleKeeper({ ...environment, schedules, hpas: followed, clock, logger }).run(signal);
    },
    async [Symbol.asyncDispose]() {
      disposal.abort(new Error('the program ends'));
      await following;
      await hpas?.[Symbol.asyncDispose]();
      await schedules[Symbol.asyncDispose]();
    },
  };
}
