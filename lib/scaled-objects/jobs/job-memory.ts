import type { PlannedObject } from '../triggers/planned-object.ts';
import { ActivityLog } from '../values/activity-log.ts';

/** What is remembered of an object; all of it may be lost. */
export interface JobMemory {
  plan: PlannedObject | undefined;
  authentications: readonly unknown[];
  /** What each source had told, or how it had failed, when Jobs were made last: one response makes Jobs once. */
  told: ReadonlyMap<string, object>;
  /** By how much our clock is ahead of the API server's at most, by the last Job that it took. */
  clockAheadMs: number;
  readonly activity: ActivityLog;
  readonly onAsked: () => void;
  failures: string;
  /** Why it could not be used, as it was told last. */
  refusal: string | undefined;
}

/** Takes in when a Job was made by the API server's clock, and by ours. */
export function noteClocks(memory: JobMemory, createdAtMs: number, nowMs: number): void {
  if (!Number.isNaN(createdAtMs)) memory.clockAheadMs = nowMs - createdAtMs;
}

/** What a leader remembers of ScaledJobs; it begins with its term. */
export class JobMemories {
  readonly #memories = new Map<string, JobMemory>();
  readonly #onAsked: (key: string) => void;

  /** @param onAsked told of an object whose triggers have told something */
  constructor(onAsked: (key: string) => void) {
    this.#onAsked = onAsked;
  }

  of(key: string): JobMemory {
    const known = this.#memories.get(key);
    if (known) return known;
    const onAsked = () => this.#onAsked(key);
    const activity = new ActivityLog();
    const fresh = {
      plan: undefined,
      authentications: [],
      told: new Map(),
      clockAheadMs: 0,
      activity,
      onAsked,
      failures: '',
      refusal: undefined,
    };
    this.#memories.set(key, fresh);
    return fresh;
  }

  /** What is asked for an object; `undefined` while that is not known. */
  plan(key: string): PlannedObject | undefined {
    return this.#memories.get(key)?.plan;
  }

  activity(key: string): ActivityLog | undefined {
    return this.#memories.get(key)?.activity;
  }

  forget(key: string): void {
    this.#memories.delete(key);
  }
}
