import type { ScaledObject } from '../objects/scaled-object.ts';
import type { NextStep } from '../scaling/decide-activation.ts';
import type { WrittenHpa } from '../scaling/hpa-client.ts';
import { HealthCounter } from '../values/metric-health.ts';

/** What a leader remembers of one object beside its status; all of it may be lost. */
export interface LoopMemory {
  /** The generation of which it was told that its triggers are asked. */
  startedGeneration: number | undefined;
  /** By the monotonic clock. More exact than the status, which is not written every time, and does not follow the wall clock. */
  lastActiveAtMs: number | undefined;
  /** As it was after our last write: informers are later. */
  latest: ScaledObject | undefined;
  /** What was written of its HPA. */
  hpa: WrittenHpa | undefined;
  readonly health: HealthCounter;
  /** What was told last of a failing trigger, by metric, so that it is told once. */
  readonly failures: Map<string, string>;
  /** What happens next, for those who look at the program. */
  next: NextStep | undefined;
}

/** What a leader remembers of objects; it begins and ends with its term. */
export class LoopMemories {
  readonly #memories = new Map<string, LoopMemory>();

  of(key: string): LoopMemory {
    const known = this.#memories.get(key);
    if (known) return known;
    const fresh: LoopMemory = {
      startedGeneration: undefined,
      lastActiveAtMs: undefined,
      latest: undefined,
      hpa: undefined,
      health: new HealthCounter(),
      failures: new Map(),
      next: undefined,
    };
    this.#memories.set(key, fresh);
    return fresh;
  }

  /** What comes next for an object, without beginning to remember it. */
  nextOf(key: string): LoopMemory['next'] {
    return this.#memories.get(key)?.next;
  }

  /**
   * The object as it is now: as we wrote it last, where the informer does not know that yet. One that went with its last
   * finalizer comes back in the version that it had.
   */
  latest(key: string, found: ScaledObject | undefined): ScaledObject | undefined {
    const { latest } = this.#memories.get(key) ?? {};
    if (!found || !latest) return found;
    if (found.metadata.uid !== latest.metadata.uid) {
      this.forget(key); // it was deleted and made again before anybody saw that it was gone
      return found;
    }
    return Number(latest.metadata.resourceVersion) >= Number(found.metadata.resourceVersion) ? latest : found;
  }

  forget(key: string): void {
    this.#memories.delete(key);
  }

  /** Ends the term: who acts meanwhile may do otherwise. */
  clear(): void {
    this.#memories.clear();
  }
}
