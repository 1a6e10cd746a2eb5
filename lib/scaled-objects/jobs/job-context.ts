import type { Collection } from '#lib/collection/collection.ts';
import { PacedKeys } from '#lib/concurrency/paced-keys.ts';
import type { Watched } from '#lib/control/controller.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import type { ScaleLog } from '#lib/control/scale-log.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ScaledJob, ScaledJobStatus } from '../api/scaled-job.ts';
import type { StatusWrites } from '../api/status-writes.ts';
import type { KedaDetector } from '../coexistence/keda-detector.ts';
import { ActivityLog, evaluationPauseMs } from '../metrics/metric-state.ts';
import type { PushScalerStreams } from '../metrics/pushed-triggers.ts';
import type { PreparedObjects } from '../preparation/prepared-objects.ts';
import type { PreparedScaledJob } from '../preparation/prepared-scaled-job.ts';
import type { PreparedTriggers } from '../preparation/prepared-triggers.ts';
import type { JobClient } from './job-client.ts';
import type { JobSummary } from './job-state.ts';

export interface ScaledJobDependencies {
  readonly objects: Watched & { find(key: string): ScaledJob | undefined };
  /** Changes of authentications, with the keys of objects that refer to them. */
  readonly related: readonly Watched[];
  readonly collection: Collection;
  readonly pushes: PushScalerStreams;
  readonly client: ResourceClient<ScaledJob>;
  readonly statuses: StatusWrites<ScaledJobStatus, ScaledJob>;
  readonly jobs: JobClient;
  readonly scaleLog: Pick<ScaleLog, 'jobsCreated'>;
  readonly prepared: PreparedObjects<ScaledJob, PreparedScaledJob>;
  readonly states: ScaledJobStates;
  readonly kedaDetector: Pick<KedaDetector, 'isManagedByKeda'>;
  /** Keys of objects whose triggers were polled. */
  readonly polled: Watched;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
}

/** State of one object for a term as leader; losing it is harmless. */
export interface ScaledJobState {
  /** The version whose triggers were reported as started; `undefined` before the first. */
  started: { readonly uid: string | undefined; readonly generation: number | undefined } | undefined;
  /** Responses or failures by metric when Jobs were created last, so that each response counts once. */
  usedResponses: ReadonlyMap<string, object>;
  /** Offset of the local clock to the API server's when the last Job was created, at most. */
  clockAheadMs: number;
  /** Offset of the wall clock to the monotonic clock at that time; `undefined` before the first Job. */
  wallAheadMs: number | undefined;
  readonly activity: ActivityLog;
  readonly onPolled: () => void;
  failures: string;
  /** The last reported reason why the object cannot be used. */
  refusal: string | undefined;
  /** Its Jobs as they were listed last, before the first of a poll was made. */
  jobs: JobSummary | undefined;
}

type Clocks = Pick<Clock, 'nowMs' | 'monotonicMs'>;

/** A slewed clock changes by less between two polls. */
const STEP_MS = 1000;

/** Records the creation time of a Job by the API server's clock against the local time. */
export function recordClockOffset(state: ScaledJobState, createdAtMs: number, clock: Clocks): void {
  if (Number.isNaN(createdAtMs)) return;
  state.clockAheadMs = clock.nowMs() - createdAtMs;
  state.wallAheadMs = wallAheadMs(clock);
}

/** Whether the wall clock was stepped, or the machine suspended, since the offset was recorded. */
export function isClockStepped(state: ScaledJobState, clock: Clocks): boolean {
  return state.wallAheadMs !== undefined && Math.abs(wallAheadMs(clock) - state.wallAheadMs) >= STEP_MS;
}

function wallAheadMs(clock: Clocks): number {
  return clock.nowMs() - clock.monotonicMs();
}

interface ScaledJobStatesOptions {
  readonly clock: Clock;
  /** @returns `undefined` while the triggers are not prepared */
  readonly findTriggers: (key: string) => PreparedTriggers | undefined;
  /** Called with the key of an object whose triggers were polled. */
  readonly onEvaluate: (key: string) => void;
}

/** States of all ScaledJobs for one term as leader. */
export class ScaledJobStates implements Disposable {
  readonly #states = new Map<string, ScaledJobState>();
  readonly #evaluations: PacedKeys;

  constructor({ clock, findTriggers, onEvaluate }: ScaledJobStatesOptions) {
    const pauseMs = (key: string) => evaluationPauseMs(findTriggers(key));
    this.#evaluations = new PacedKeys({ clock, release: onEvaluate, pauseMs });
  }

  of(key: string): ScaledJobState {
    const existing = this.#states.get(key);
    if (existing) return existing;
    const onPolled = () => this.#evaluations.add(key);
    const activity = new ActivityLog();
    const fresh = {
      started: undefined,
      usedResponses: new Map(),
      clockAheadMs: 0,
      wallAheadMs: undefined,
      activity,
      onPolled,
      failures: '',
      refusal: undefined,
      jobs: undefined,
    };
    this.#states.set(key, fresh);
    return fresh;
  }

  /** Whether triggers of an object were reported as started. */
  isStarted(key: string): boolean {
    return this.#states.get(key)?.started !== undefined;
  }

  activity(key: string): ActivityLog | undefined {
    return this.#states.get(key)?.activity;
  }

  /** The Jobs of an object as they were listed last. */
  jobs(key: string): JobSummary | undefined {
    return this.#states.get(key)?.jobs;
  }

  delete(key: string): void {
    this.#states.delete(key);
    this.#evaluations.delete(key);
  }

  [Symbol.dispose](): void {
    this.#evaluations[Symbol.dispose]();
  }
}
