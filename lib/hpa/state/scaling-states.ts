import type { Clock } from '#lib/time/clock.ts';
import { EMPTY_STATE, type ScalingState } from '../decision/scaling-state.ts';
import type { ConfigMapStore } from './config-map-store.ts';
import {
  formatRecord,
  isOutdated,
  type PersistedState,
  parseRecord,
  reduceState,
  restoreState,
  type ScaleIntent,
  type StateRecord,
  type StateWindows,
  withIntent,
} from './persisted-state.ts';

/** Timeout for reading persisted state. */
const READ_TIMEOUT_MS = 30_000;
/** Maximum lag of an informer. */
const LATELY_MS = 300_000;

interface HpaRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

interface ScalingStatesOptions {
  readonly store: Pick<ConfigMapStore, 'get' | 'put' | 'release'>;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  /** Called once per failure: persisted state of a namespace cannot be read, and its HPAs are decided without it. */
  readonly onUnread: (namespace: string, error: unknown) => void;
}

/** Slewing changes clocks by less between two decisions. */
const MIN_CLOCK_STEP_MS = 1000;

interface CachedState {
  readonly uid: string;
  memory: ScalingState;
  record?: StateRecord;
  /** Persisted state may exist that could not be read and has to be overwritten. */
  isUnread?: boolean;
  /** Wall clock minus monotonic clock when its times were recorded. */
  aheadMs: number;
}

/** The last decision of an HPA, and its current scale. */
interface LastDecision {
  /** Shows whether an intended scale change was written; `undefined` counts as written. */
  readonly currentReplicas: number | undefined;
  /** The last decision of a new HPA by any controller. */
  readonly decidedAtMs: number;
  /** The last decision of another controller, which ends earlier recommendations. */
  readonly otherDecidedAtMs?: number | undefined;
}

interface PersistOptions {
  readonly currentReplicas: number | undefined;
  readonly windows: StateWindows;
  readonly intent?: ScaleIntent | undefined;
  readonly nowMs: number;
}

/** Caches the state of HPAs for one leadership term, and persists it for the next. */
export class ScalingStates {
  readonly #options: ScalingStatesOptions;
  readonly #states = new Map<string, CachedState>();
  /** Since when the state of a namespace cannot be read, and whether that was reported. */
  readonly #unread = new Map<string, { readonly sinceMs: number; isReported: boolean }>();

  constructor(options: ScalingStatesOptions) {
    this.#options = options;
  }

  /**
   * Whether the state depends on the current scale: a process was about to change it recently, and may have been killed
   * before.
   */
  async dependsOnScale(hpa: HpaRef, nowMs: number): Promise<boolean> {
    if (this.#states.get(`${hpa.namespace}/${hpa.name}`)?.uid === hpa.uid) return false;
    const { text } = await this.#read(hpa);
    const intent = text === undefined ? undefined : parseRecord(text)?.intent;
    return intent !== undefined && nowMs - intent.atMs < LATELY_MS;
  }

  async get(
    hpa: HpaRef,
    { currentReplicas, decidedAtMs, otherDecidedAtMs = Number.NEGATIVE_INFINITY }: LastDecision,
  ): Promise<ScalingState> {
    const key = `${hpa.namespace}/${hpa.name}`;
    const cached = this.#states.get(key);
    if (cached?.uid === hpa.uid)
      return endCachedAtExternalDecision(this.#ofNow(cached), {
        currentReplicas,
        decidedAtMs,
        otherDecidedAtMs,
      });
    const { text, isUnread } = await this.#read(hpa);
    const record = text === undefined ? undefined : parseRecord(text);
    if (!record || record.uid !== hpa.uid) {
      this.#states.set(key, { uid: hpa.uid, memory: EMPTY_STATE, isUnread, aheadMs: this.#aheadMs });
      return EMPTY_STATE;
    }
    const wasScaled = record.intent !== undefined && currentReplicas !== record.intent.from;
    const { intent: _, ...persisted } = record;
    const ours = wasScaled ? withIntent(record) : persisted;
    const isEnded = record.latest !== undefined && otherDecidedAtMs > record.latest.atMs;
    const restored = restoreState(
      isEnded ? endAtExternalDecision(ours, { currentReplicas, decidedAtMs }) : ours,
      decidedAtMs,
    );
    const nowMs = this.#options.clock.nowMs();
    // The clock of the writer may have been ahead.
    const memory = withTimes(restored, (atMs) => Math.min(atMs, nowMs));
    this.#states.set(key, { uid: hpa.uid, memory, record, aheadMs: this.#aheadMs });
    return memory;
  }

  /**
   * Persists the state if later decisions could depend on the difference to the persisted one.
   *
   * @param memory the state after the decision is applied
   * @throws errors of the store
   */
  async persist(
    hpa: HpaRef,
    memory: ScalingState,
    { currentReplicas, windows, intent, nowMs }: PersistOptions,
  ): Promise<void> {
    const cached = this.#states.get(`${hpa.namespace}/${hpa.name}`);
    const isUnwritten = !cached?.record && !cached?.isUnread && !intent;
    if (isUnwritten && isUnchanged(memory, currentReplicas)) return; // as of most HPAs
    const persisted = reduceState(memory, windows, nowMs);
    if (isUnwritten && isInitial(persisted, currentReplicas)) return;
    if (cached?.record && !isOutdated(withIntent(cached.record), persisted, windows, nowMs)) return;
    const record = { ...withoutIntent(persisted, intent), uid: hpa.uid, intent };
    await this.#options.store.put(hpa.namespace, hpa.name, formatRecord(record));
    if (cached) Object.assign(cached, { record, isUnread: false });
  }

  /** Replaces the cached state. */
  set({ namespace, name, uid }: HpaRef, memory: ScalingState): void {
    const key = `${namespace}/${name}`;
    const cached = this.#states.get(key);
    const aheadMs = this.#aheadMs;
    if (cached?.uid === uid) Object.assign(cached, { memory, aheadMs });
    else this.#states.set(key, { uid, memory, aheadMs });
  }

  /** Evicts a namespace without HPAs. */
  release(namespace: string): void {
    this.#unread.delete(namespace);
    this.#options.store.release(namespace);
  }

  /** The persisted state; none if it cannot be read for long: replicas then stay for a window, as after a first start. */
  async #read({
    namespace,
    name,
  }: HpaRef): Promise<{ readonly text: string | undefined; readonly isUnread: boolean }> {
    const { store, clock, onUnread } = this.#options;
    try {
      const text = await store.get(namespace, name);
      this.#unread.delete(namespace);
      return { text, isUnread: false };
    } catch (error) {
      const unread = this.#unread.get(namespace) ?? { sinceMs: clock.monotonicMs(), isReported: false };
      this.#unread.set(namespace, unread);
      if (clock.monotonicMs() - unread.sinceMs < READ_TIMEOUT_MS) throw error;
      if (!unread.isReported) onUnread(namespace, error);
      unread.isReported = true;
      return { text: undefined, isUnread: true };
    }
  }

  /** Wall clock minus monotonic clock. */
  get #aheadMs(): number {
    return this.#options.clock.nowMs() - this.#options.clock.monotonicMs();
  }

  /** A step of the wall clock changes no age. */
  #ofNow(cached: CachedState): ScalingState {
    const stepMs = this.#aheadMs - cached.aheadMs;
    if (Math.abs(stepMs) < MIN_CLOCK_STEP_MS) return cached.memory;
    cached.aheadMs += stepMs;
    cached.memory = withTimes(cached.memory, (atMs) => atMs + stepMs);
    return cached.memory;
  }

  /**
   * Removes a deleted HPA.
   *
   * @param isRetained whether its persisted state stays: in a dry run it belongs to another controller
   */
  async remove(
    namespace: string,
    name: string,
    { isRetained }: { readonly isRetained: boolean },
  ): Promise<void> {
    this.#states.delete(`${namespace}/${name}`);
    if (!isRetained) await this.#options.store.put(namespace, name, undefined);
  }
}

function withTimes(memory: ScalingState, timeOf: (atMs: number) => number): ScalingState {
  const moved = <Entry extends { readonly atMs: number }>(entries: readonly Entry[]) =>
    entries.map((entry) => ({ ...entry, atMs: timeOf(entry.atMs) }));
  return {
    recommendations: moved(memory.recommendations),
    scaleUpEvents: moved(memory.scaleUpEvents),
    scaleDownEvents: moved(memory.scaleDownEvents),
  };
}

/** Whether the current replicas were recommended, and nothing else. */
function isUnchanged(
  { recommendations, scaleUpEvents, scaleDownEvents }: ScalingState,
  currentReplicas: number | undefined,
): boolean {
  return (
    recommendations.every(({ replicas }) => replicas === currentReplicas) &&
    recommendations.length > 0 &&
    scaleUpEvents.length === 0 &&
    scaleDownEvents.length === 0
  );
}

/** Whether a state equals the one of a new HPA: the current replicas were recommended. */
function isInitial(persisted: PersistedState, currentReplicas: number | undefined): boolean {
  const { recommendations, latest, scaleUpEvents, scaleDownEvents } = persisted;
  const count = recommendations.length + scaleUpEvents.length + scaleDownEvents.length;
  return count === 0 && latest?.replicas === currentReplicas;
}

/** Removes the event of an intended scale change. */
function withoutIntent<Retained extends Pick<StateRecord, 'scaleUpEvents' | 'scaleDownEvents'>>(
  persisted: Retained,
  intent: ScaleIntent | undefined,
): Retained {
  if (!intent) return persisted;
  const isOther = ({ atMs }: { readonly atMs: number }) => atMs !== intent.atMs;
  const { scaleUpEvents, scaleDownEvents } = persisted;
  return {
    ...persisted,
    scaleUpEvents: scaleUpEvents.filter(isOther),
    scaleDownEvents: scaleDownEvents.filter(isOther),
  };
}

/** The persisted state, with the latest recommendation ended at that time: another controller has recommended the current replicas since. */
function endAtExternalDecision(
  persisted: PersistedState,
  {
    currentReplicas,
    decidedAtMs,
  }: { readonly currentReplicas: number | undefined; readonly decidedAtMs: number },
): PersistedState {
  return {
    ...persisted,
    recommendations: [...persisted.recommendations, ...(persisted.latest ? [persisted.latest] : [])],
    latest: currentReplicas === undefined ? undefined : { replicas: currentReplicas, atMs: decidedAtMs },
  };
}

/** The cached state likewise: a recommendation from before another controller's may be older than any window. */
function endCachedAtExternalDecision(
  memory: ScalingState,
  { currentReplicas, decidedAtMs, otherDecidedAtMs = Number.NEGATIVE_INFINITY }: LastDecision,
): ScalingState {
  const { recommendations } = memory;
  const latestMs = recommendations.reduce((latest, { atMs }) => Math.max(latest, atMs), 0);
  // Without recommendations the current replicas count anyway.
  if (recommendations.length === 0 || otherDecidedAtMs <= latestMs || currentReplicas === undefined)
    return memory;
  return {
    ...memory,
    recommendations: [...recommendations, { replicas: currentReplicas, atMs: decidedAtMs }],
  };
}
