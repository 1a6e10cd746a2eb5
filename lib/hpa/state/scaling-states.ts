import type { Clock } from '#lib/time/clock.ts';
import { type HpaMemory, NO_MEMORY } from '../decision/scaling-state.ts';
import type { MemoryStore } from './config-map-store.ts';
import {
  formatRecord,
  isOutdated,
  type KeptMemory,
  type KeptWindows,
  keptMemory,
  type MemoryRecord,
  parseRecord,
  restoredMemory,
  type ScaleIntent,
  withIntent,
} from './persisted-state.ts';

/** How long an HPA waits for what was kept of it to be readable. */
const READ_WITHIN_MS = 30_000;
/** No informer is further behind than this. */
const LATELY_MS = 300_000;

/** Whose memory is meant. */
interface Rememberer {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** What memories are kept with. */
interface HpaMemoriesOptions {
  readonly store: Pick<MemoryStore, 'get' | 'put' | 'letGo'>;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  /** Told once, while it lasts, that what was kept in a namespace cannot be read: its HPAs are decided without it. */
  readonly onUnread: (namespace: string, error: unknown) => void;
}

/** Clocks that are slewed differ by less between two decisions. */
const SMALLEST_STEP_MS = 1000;

interface Remembered {
  readonly uid: string;
  memory: HpaMemory;
  record?: MemoryRecord;
  /** Something may be kept of it that nobody has read: it is to be written over. */
  isUnread?: boolean;
  /** How far the wall clock was ahead of the monotonic one when its times were told. */
  aheadMs: number;
}

/** When an HPA was decided last, and its scale now. */
interface LastDecision {
  /** Of the scale, which tells whether a scaling that was about to be written was; `undefined` where it is not known, and then it counts. */
  readonly currentReplicas: number | undefined;
  /** When an HPA that is met for the first time was last decided, by whatever controller. */
  readonly decidedAtMs: number;
  /** When another controller has decided it, if one did: what was recommended before that did not go on. */
  readonly otherDecidedAtMs?: number | undefined;
}

interface KeepOptions {
  readonly currentReplicas: number | undefined;
  readonly windows: KeptWindows;
  readonly intent?: ScaleIntent | undefined;
  readonly nowMs: number;
}

/** What is remembered of HPAs during one term, and kept for the next. */
export class HpaMemories {
  readonly #options: HpaMemoriesOptions;
  readonly #memories = new Map<string, Remembered>();
  /** Since when what was kept in a namespace cannot be read, and whether that was told. */
  readonly #unread = new Map<string, { readonly sinceMs: number; isTold: boolean }>();

  constructor(options: HpaMemoriesOptions) {
    this.#options = options;
  }

  /**
   * Whether what is remembered depends on what the scale is right now: a process was about to change it lately, and may
   * have been killed before it did.
   */
  async dependsOnScale(hpa: Rememberer, nowMs: number): Promise<boolean> {
    if (this.#memories.get(`${hpa.namespace}/${hpa.name}`)?.uid === hpa.uid) return false;
    const { text } = await this.#read(hpa);
    const intent = text === undefined ? undefined : parseRecord(text)?.intent;
    return intent !== undefined && nowMs - intent.atMs < LATELY_MS;
  }

  /**
   * What is remembered of an HPA.
   */
  async of(
    hpa: Rememberer,
    { currentReplicas, decidedAtMs, otherDecidedAtMs = Number.NEGATIVE_INFINITY }: LastDecision,
  ): Promise<HpaMemory> {
    const key = `${hpa.namespace}/${hpa.name}`;
    const known = this.#memories.get(key);
    if (known?.uid === hpa.uid)
      return endedIn(this.#ofNow(known), { currentReplicas, decidedAtMs, otherDecidedAtMs });
    const { text, isUnread } = await this.#read(hpa);
    const record = text === undefined ? undefined : parseRecord(text);
    if (!record || record.uid !== hpa.uid) {
      this.#memories.set(key, { uid: hpa.uid, memory: NO_MEMORY, isUnread, aheadMs: this.#aheadMs });
      return NO_MEMORY;
    }
    const wasScaled = record.intent !== undefined && currentReplicas !== record.intent.from;
    const { intent: _, ...kept } = record;
    const ours = wasScaled ? withIntent(record) : kept;
    const isEnded = record.latest !== undefined && otherDecidedAtMs > record.latest.atMs;
    const restored = restoredMemory(
      isEnded ? endedBy(ours, { currentReplicas, decidedAtMs }) : ours,
      decidedAtMs,
    );
    const nowMs = this.#options.clock.nowMs();
    // The clock of who wrote it may have been ahead.
    const memory = withTimes(restored, (atMs) => Math.min(atMs, nowMs));
    this.#memories.set(key, { uid: hpa.uid, memory, record, aheadMs: this.#aheadMs });
    return memory;
  }

  /**
   * Keeps what is remembered, if later decisions could depend on the difference to what is kept.
   *
   * @param memory with what is about to be done as done
   * @throws what the store throws
   */
  async keep(
    hpa: Rememberer,
    memory: HpaMemory,
    { currentReplicas, windows, intent, nowMs }: KeepOptions,
  ): Promise<void> {
    const known = this.#memories.get(`${hpa.namespace}/${hpa.name}`);
    const kept = keptMemory(memory, windows, nowMs);
    if (!known?.record && !known?.isUnread && !intent && saysNothingBut(kept, currentReplicas)) return;
    if (known?.record && !isOutdated(withIntent(known.record), kept, windows, nowMs)) return;
    const record = { ...withoutIntent(kept, intent), uid: hpa.uid, intent };
    await this.#options.store.put(hpa.namespace, hpa.name, formatRecord(record));
    if (known) Object.assign(known, { record, isUnread: false });
  }

  /** What is remembered from now on. */
  set({ namespace, name, uid }: Rememberer, memory: HpaMemory): void {
    const key = `${namespace}/${name}`;
    const known = this.#memories.get(key);
    const aheadMs = this.#aheadMs;
    if (known?.uid === uid) Object.assign(known, { memory, aheadMs });
    else this.#memories.set(key, { uid, memory, aheadMs });
  }

  /** Lets go of a namespace that has no HPA any more. */
  letGo(namespace: string): void {
    this.#unread.delete(namespace);
    this.#options.store.letGo(namespace);
  }

  /** What was kept of an HPA; nothing where it could not be read for long: as after a first start, replicas hold for a window then. */
  async #read({
    namespace,
    name,
  }: Rememberer): Promise<{ readonly text: string | undefined; readonly isUnread: boolean }> {
    const { store, clock, onUnread } = this.#options;
    try {
      const text = await store.get(namespace, name);
      this.#unread.delete(namespace);
      return { text, isUnread: false };
    } catch (error) {
      const unread = this.#unread.get(namespace) ?? { sinceMs: clock.monotonicMs(), isTold: false };
      this.#unread.set(namespace, unread);
      if (clock.monotonicMs() - unread.sinceMs < READ_WITHIN_MS) throw error;
      if (!unread.isTold) onUnread(namespace, error);
      unread.isTold = true;
      return { text: undefined, isUnread: true };
    }
  }

  /** How far the wall clock is ahead of the monotonic one. */
  get #aheadMs(): number {
    return this.#options.clock.nowMs() - this.#options.clock.monotonicMs();
  }

  /** A step of the wall clock makes nothing older or younger. */
  #ofNow(known: Remembered): HpaMemory {
    const stepMs = this.#aheadMs - known.aheadMs;
    if (Math.abs(stepMs) < SMALLEST_STEP_MS) return known.memory;
    known.aheadMs += stepMs;
    known.memory = withTimes(known.memory, (atMs) => atMs + stepMs);
    return known.memory;
  }

  /**
   * Forgets an HPA that is no more.
   *
   * @param isKept whether what was kept of it stays: in a dry run it is another controller's
   */
  async forget(namespace: string, name: string, { isKept }: { readonly isKept: boolean }): Promise<void> {
    this.#memories.delete(`${namespace}/${name}`);
    if (!isKept) await this.#options.store.put(namespace, name, undefined);
  }
}

function withTimes(memory: HpaMemory, timeOf: (atMs: number) => number): HpaMemory {
  const moved = <Entry extends { readonly atMs: number }>(entries: readonly Entry[]) =>
    entries.map((entry) => ({ ...entry, atMs: timeOf(entry.atMs) }));
  return {
    recommendations: moved(memory.recommendations),
    scaleUpEvents: moved(memory.scaleUpEvents),
    scaleDownEvents: moved(memory.scaleDownEvents),
  };
}

/** Whether a memory is what anybody takes for it who has none: that what there is was recommended. */
function saysNothingBut(kept: KeptMemory, currentReplicas: number | undefined): boolean {
  const { recommendations, latest, scaleUpEvents, scaleDownEvents } = kept;
  const count = recommendations.length + scaleUpEvents.length + scaleDownEvents.length;
  return count === 0 && latest?.replicas === currentReplicas;
}

/** Takes the event of a scaling out that is told as one about to be written. */
function withoutIntent<Kept extends Pick<MemoryRecord, 'scaleUpEvents' | 'scaleDownEvents'>>(
  kept: Kept,
  intent: ScaleIntent | undefined,
): Kept {
  if (!intent) return kept;
  const isOther = ({ atMs }: { readonly atMs: number }) => atMs !== intent.atMs;
  const { scaleUpEvents, scaleDownEvents } = kept;
  return {
    ...kept,
    scaleUpEvents: scaleUpEvents.filter(isOther),
    scaleDownEvents: scaleDownEvents.filter(isOther),
  };
}

/** What was kept, with what was being recommended as of then: another controller has wanted since what there is now. */
function endedBy(
  kept: KeptMemory,
  {
    currentReplicas,
    decidedAtMs,
  }: { readonly currentReplicas: number | undefined; readonly decidedAtMs: number },
): KeptMemory {
  return {
    ...kept,
    recommendations: [...kept.recommendations, ...(kept.latest ? [kept.latest] : [])],
    latest: currentReplicas === undefined ? undefined : { replicas: currentReplicas, atMs: decidedAtMs },
  };
}

/** The same of what is remembered in this term: what was wanted before another controller acted may be older than any window. */
function endedIn(
  memory: HpaMemory,
  { currentReplicas, decidedAtMs, otherDecidedAtMs = Number.NEGATIVE_INFINITY }: LastDecision,
): HpaMemory {
  const { recommendations } = memory;
  const latestMs = recommendations.reduce((latest, { atMs }) => Math.max(latest, atMs), 0);
  // Where nothing was recommended yet, what there is counts anyway.
  if (recommendations.length === 0 || otherDecidedAtMs <= latestMs || currentReplicas === undefined)
    return memory;
  return {
    ...memory,
    recommendations: [...recommendations, { replicas: currentReplicas, atMs: decidedAtMs }],
  };
}
