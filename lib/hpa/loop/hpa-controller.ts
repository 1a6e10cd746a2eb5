import { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import { type Controller, DONE } from '#lib/control/controller.ts';
import type { ToldEvent } from '#lib/control/event.ts';
import { nameOfKey } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { actOnHpa } from './act-on-hpa.ts';
import { actedOnElsewhere } from './elsewhere-condition.ts';
import type { HpaDependencies } from './hpa-dependencies.ts';
import { DueHpas, syncSchedule, untilNextMs } from './sync-schedule.ts';
import { tell } from './tell-event.ts';

/** Another controller is left alone until it has not written for so many periods. */
const QUIET_PERIODS = 3;

/** Scales targets by metrics. A new one for each term as leader. */
export function hpaController(dependencies: HpaDependencies): Controller {
  const { hpas, pods, readWorld, statuses, memories, autoMin, others, decisions, series, clock, options } =
    dependencies;
  const due = new DueHpas();
  const permits = new FairSemaphore(options.concurrentSyncs);
  return {
    name: 'hpa',
    watches: [hpas, { onChange: () => () => {}, synced: (signal) => pods.synced(signal) }],
    async reconcile(key, signal) {
      const hpa = statuses.latest(key, hpas.find(key));
      if (!hpa || !options.selector.matches(hpa.metadata.labels ?? {})) {
        const { namespace = '', name } = nameOfKey(key);
        due.forget(key);
        decisions.forget(key);
        readWorld.forget(key);
        series.forget(namespace, name);
        if (!hpa) others.observe(key, undefined, undefined); // a status may have been sent since it went
        await memories.forget(namespace, name, { isKept: options.isDryRun });
        await autoMin.forget(namespace, name);
        if (!due.isFollowing(namespace)) memories.letGo(namespace);
        return DONE;
      }
      const schedule = syncSchedule(hpa, options.syncPeriodMs);
      due.follow(key, hpa.metadata.namespace, schedule.periodMs);
      const waitMs = due.untilDueMs(key, hpa, clock.monotonicMs());
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const isChanged = due.isNew(key, hpa);
      const dueAtMs = clock.monotonicMs() + waitMs;
      if (schedule.problem && isChanged) tell(hpa, dependencies, invalidPeriod(schedule.problem));

      const other = options.isDryRun ? undefined : others.lately(key, QUIET_PERIODS * schedule.periodMs);
      if (other) {
        const { status, event } = actedOnElsewhere(hpa, other, { nowMs: clock.nowMs(), ...schedule });
        decisions.steppedAside(key, other, clock.nowMs());
        tell(hpa, dependencies, event);
        await statuses.write(hpa, status, signal);
      } else {
        const startedAtMs = clock.monotonicMs();
        const outcome = await actOnHpa(hpa, { schedule, due, permits, signal, ...dependencies });
        if (!outcome) return { requeueAfterMs: 1 };
        series.reconciled(outcome, clock.monotonicMs() - startedAtMs);
      }
      const nowMs = clock.monotonicMs();
      if (!isChanged) series.late(nowMs - dueAtMs);
      const untilMs = untilNextMs(schedule, nowMs);
      due.decided(key, hpa, nowMs + untilMs);
      return { requeueAfterMs: untilMs };
    },
  };
}

function invalidPeriod(message: string): ToldEvent {
  return { type: 'Warning', reason: 'InvalidResyncPeriod', message };
}
