import { EventLoopShare, type Steps } from '#lib/concurrency/event-loop.ts';
import { KeyFailures } from '#lib/control/controller.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import type { ScaleClient } from '#lib/control/scale-client.ts';
import { type StatefulObject, StatusWriter } from '#lib/control/status-writer.ts';
import type { Subsystem } from '#lib/control/subsystem.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { HPAS, type Hpa, type HpaNeeds } from '#lib/kubernetes/objects/hpa-versions.ts';
import { Quantity } from '#lib/kubernetes/quantity.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import {
  CachedSchedules,
  keyOfSchedule,
  resourceOfSchedules,
  SCALING_SCHEDULES,
  type ScalingSchedule,
  type ScalingScheduleKind,
} from './scaling-schedule.ts';
import { type ScheduleDefaults, scheduledValue } from './scheduled-value.ts';

export interface ScheduleReconcilerOptions {
  readonly client: ApiClient;
  readonly scales: ScaleClient;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly schedules: { values(): Iterable<ScalingSchedule> };
  readonly hpas: { values(): Iterable<ScheduledHpa> };
  readonly defaults: ScheduleDefaults;
  /** Of the HPA controller: the relative deviation of a metric within which it does not scale. */
  readonly tolerance: number;
}

interface ScalingScheduleEnvironment extends Omit<ScheduleReconcilerOptions, 'schedules' | 'hpas'> {
  readonly informers: SharedInformers;
  readonly relistMs: number;
}

/** Scaling schedules: every replica caches them, and the leader updates their status. */
export function scalingScheduleSubsystem(environment: ScalingScheduleEnvironment): Subsystem {
  const { informers, relistMs } = environment;
  const schedules = new CachedSchedules(environment);
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
    lead: (signal) => new ScheduleReconciler({ ...environment, schedules, hpas }).run(signal),
    async [Symbol.asyncDispose]() {},
  };
}

const EVERY_MS = 10_000;
/** Field manager of our fields of schedules. */
const FIELD_MANAGER = 'autoscaler-scalingschedule';

/** A change to make on an object. */
interface Attempt {
  readonly name: string;
  readonly act: () => Promise<void>;
}

/**
 * Work of the leader for schedules: updates whether each is active in its status, and adds the last replicas that an
 * HPA leaves out because they are within its tolerance.
 */
export class ScheduleReconciler {
  readonly #options: ScheduleReconcilerOptions;
  readonly #failures: KeyFailures;
  readonly #share: EventLoopShare;
  /** Namespaces with changes in progress: further ones wait for the next cycle. */
  readonly #busy = new Set<string>();

  constructor(options: ScheduleReconcilerOptions) {
    this.#options = options;
    this.#share = new EventLoopShare(options.clock);
    this.#failures = new KeyFailures({ controller: 'scaling-schedule', logger: options.logger });
  }

  /** Reconciles every 10 s, until the signal aborts; a namespace that takes longer does not delay the others. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const cycles = new Set<Promise<void>>();
    while (!signal.aborted) {
      const cycle = this.reconcile(signal).finally(() => cycles.delete(cycle));
      cycles.add(cycle);
      await clock.sleep(EVERY_MS, { signal }).catch(() => {}); // aborted: the loop ends
    }
    await Promise.all(cycles);
  }

  /** Reconciles all namespaces concurrently; a failure affects one object only. */
  async reconcile(signal: AbortSignal): Promise<void> {
    const { schedules, hpas, clock, defaults } = this.#options;
    const nowMs = clock.nowMs();
    const attempts = new Map<string, Attempt[]>();
    const attempt = (namespace: string, name: string, act: () => Promise<void>) => {
      const own = attempts.get(namespace) ?? [];
      attempts.set(namespace, own);
      own.push({ name, act });
    };
    const writeStatus = (schedule: ScalingSchedule, isActive: boolean) =>
      attempt(schedule.namespace, nameOf(schedule), () => this.#writeStatus(schedule, isActive, signal));
    const steps = activeInSteps([...schedules.values()], { nowMs, defaults, onChanged: writeStatus });
    const active = await this.#share.runSteps(steps, { tenant: '', signal });
    for (const hpa of hpas.values()) {
      const targets = hpa.schedules.flatMap(({ kind, key, averageValue }): readonly ActiveTarget[] => {
        const value = active.get(`${kind} ${key}`);
        return value === undefined ? [] : [{ schedule: { kind, key }, value, averageValue }];
      });
      if (targets.length > 0)
        attempt(hpa.namespace, `HPA ${hpa.namespace}/${hpa.name}`, () => this.#lift(hpa, targets, signal));
    }
    this.#failures.retainOnly(new Set([...attempts.values()].flat().map(({ name }) => name)));
    await Promise.all([...attempts].map(([namespace, own]) => this.#attempt(namespace, own, signal)));
  }

  async #attempt(namespace: string, attempts: readonly Attempt[], signal: AbortSignal): Promise<void> {
    if (this.#busy.has(namespace)) return;
    this.#busy.add(namespace);
    for (const { name, act } of attempts) {
      if (signal.aborted) break;
      try {
        await act();
        this.#failures.succeed(name);
      } catch (error) {
        if (!signal.aborted) this.#failures.fail(name, error);
      }
    }
    this.#busy.delete(namespace);
  }

  async #writeStatus(schedule: ScalingSchedule, active: boolean, signal: AbortSignal): Promise<void> {
    const { client: api, clock } = this.#options;
    const resource = resourceOfSchedules(schedule.kind);
    const client = new ResourceClient<StatefulObject<object>>({ api, resource });
    const object = await client.find(schedule, { signal });
    if (!object) return;
    const statuses = new StatusWriter<object, StatefulObject<object>>({
      client,
      fieldManager: FIELD_MANAGER,
      clock,
    });
    await statuses.update(object, { ...object.status, active }, { signal });
  }

  async #lift(hpa: ScheduledHpa, targets: readonly ActiveTarget[], signal: AbortSignal): Promise<void> {
    const { scales, events, tolerance } = this.#options;
    const { namespace, name, uid, target, maxReplicas: max } = hpa;
    const scale = await scales.get({ namespace, ...target }, signal);
    const current = scale.specReplicas;
    const lift = liftedReplicas(targets, { current, max, tolerance });
    if (!lift) return;
    const { kind, key } = lift.schedule;
    const cause = { by: `hpa ${name}`, why: `schedule ${kind} ${key}, within the tolerance` };
    await scales.set(scale, lift.replicas, cause, signal);
    events.record({
      regarding: { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', namespace, name, uid },
      type: 'Normal',
      reason: 'ScalingAdjusted',
      action: 'Scale',
      message: `Scaling schedule '${kind}' adjusted replicas ${current} -> ${lift.replicas} based on metric: ${key}`,
    });
  }
}

interface ActiveOptions {
  readonly nowMs: number;
  readonly defaults: ScheduleDefaults;
  /** Called with a schedule whose status differs from whether it is active. */
  readonly onChanged: (schedule: ScalingSchedule, isActive: boolean) => void;
}

/** The whole values of active schedules by name; each step evaluates one, of up to 1,000 entries. */
function* activeInSteps(
  schedules: readonly ScalingSchedule[],
  { nowMs, defaults, onChanged }: ActiveOptions,
): Steps<ReadonlyMap<string, number>> {
  const active = new Map<string, number>();
  for (const schedule of schedules) {
    const { isActive, wholeValue } = scheduledValue(schedule, nowMs, defaults);
    if (isActive) active.set(nameOf(schedule), wholeValue);
    if ((schedule.isActive ?? false) !== isActive) onChanged(schedule, isActive);
    yield;
  }
  return active;
}

/** With its kind, as in the log. */
function nameOf(schedule: ScalingSchedule): string {
  return `${schedule.kind} ${keyOfSchedule(schedule)}`;
}

/** An active schedule as the target of an HPA. */
interface ActiveTarget {
  /** As in events. */
  readonly schedule: { readonly kind: string; readonly key: string };
  /** The whole value, also on a ramp. */
  readonly value: number;
  /** The part of the value for one replica. */
  readonly averageValue: number;
}

/** The replicas to set for an HPA, and the schedule that requires them. */
interface Lift {
  readonly replicas: number;
  readonly schedule: ActiveTarget['schedule'];
}

/**
 * The last replicas that an HPA leaves out because a schedule's value is within its tolerance of the current ones.
 *
 * @returns `undefined` where none are left out
 */
export function liftedReplicas(
  targets: readonly ActiveTarget[],
  facts: { readonly current: number; readonly max: number; readonly tolerance: number },
): Lift | undefined {
  const { current, max, tolerance } = facts;
  if (current === 0) return undefined;
  let lift: Lift | undefined;
  for (const { schedule, value, averageValue } of targets) {
    if (!(averageValue > 0)) continue;
    const expected = Math.min(Math.ceil(value / averageValue), max);
    const offBy = Math.abs(1 - value / (averageValue * current));
    if (expected <= current || offBy === 0 || offBy > tolerance) continue;
    if (!lift || expected > lift.replicas) lift = { replicas: expected, schedule };
  }
  return lift;
}

/** The cached part of an HPA that schedules scale. */
interface ScheduledHpa {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly target: { readonly apiVersion: string; readonly kind: string; readonly name: string };
  readonly maxReplicas: number;
  readonly schedules: readonly {
    readonly kind: ScalingScheduleKind;
    readonly key: string;
    readonly averageValue: number;
  }[];
}

/** How the controller of schedules uses the informer of HPAs. */
const SCHEDULED_HPAS = {
  needs: { fields: ['customMetrics'] } satisfies HpaNeeds,
  view: readScheduledHpa,
};

/** Reduces an HPA; `undefined` for one without an average target of a schedule. */
export function readScheduledHpa({ metadata, spec }: Hpa): ScheduledHpa | undefined {
  const { namespace: ownNamespace, name: ownName, uid } = metadata;
  const schedules = (spec.metrics ?? []).flatMap((metric) => {
    if (metric.type !== 'Object') return [];
    const { describedObject, target } = metric.object;
    const { kind, name, apiVersion = '' } = describedObject;
    const supported = SCALING_SCHEDULES.kinds.find((one) => one === kind);
    const average = Quantity.parse(target.averageValue ?? '');
    const isOurs = apiVersion.split('/')[0] === SCALING_SCHEDULES.apiVersion.split('/')[0];
    if (!supported || !isOurs || !average) return [];
    const namespace = supported === 'ScalingSchedule' ? ownNamespace : '';
    return [
      { kind: supported, key: keyOfSchedule({ namespace, name }), averageValue: Number(average.nanos) / 1e9 },
    ];
  });
  if (schedules.length === 0) return undefined;
  const { scaleTargetRef, maxReplicas } = spec;
  const { apiVersion = '', kind, name } = scaleTargetRef;
  const target = { apiVersion, kind, name };
  return { namespace: ownNamespace, name: ownName, uid, target, maxReplicas, schedules };
}
