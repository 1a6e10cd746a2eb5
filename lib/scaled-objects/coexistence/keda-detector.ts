import type { ChangeSource } from '#lib/control/controller.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import type { ObjectChange } from '#lib/kubernetes/informer/object-store.ts';
import { type KubernetesObject, keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { printable } from '#lib/telemetry/printable.ts';
import type { Clock } from '#lib/time/clock.ts';
import { eventsOf } from '../api/object-events.ts';
import { type LeaseState, OPERATOR_LEASE, OperatorLease, type OperatorLeaseOptions } from './keda-lease.ts';
import { ExternalWrites, type WrittenObject } from './keda-writes.ts';

/** Objects of one kind, and what becomes of them. */
export interface WatchedKind extends ChangeSource<ObjectChange<WrittenObject>> {
  values(): Iterable<WrittenObject>;
}

/** What {@link KedaDetector} works with. */
interface KedaDetectorOptions extends Omit<OperatorLeaseOptions, 'clock' | 'namespace' | 'countsEverywhere'> {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Where the lease of KEDA's operator counts; empty where it counts nowhere. */
  readonly kedaNamespace: string;
  /** Whether it counts in any other namespace, too. */
  readonly kedaLeaseEverywhere: boolean;
  /** By the names of their kinds. */
  readonly kinds: Readonly<Record<string, WatchedKind>>;
  readonly hpas: ChangeSource<ObjectChange<KubernetesObject>>;
}

const POLL_INTERVAL_MS = 5_000;
/** Of more objects than this there are no events: the log and the doctor say it, too. */
const MAX_EVENTS = 100;
const MAX_NAME_LENGTH = 253;
const REASON = 'AnotherControllerActs';

const LEASE_FORBIDDEN =
  "No permission to read the lease of KEDA's operator: it is seen by what it writes alone";

/**
 * Sees whether KEDA's operator runs, too, and has us keep our hands off its objects while it does: off all of them by its
 * lease, and for it can run without a lease, off those that somebody else is seen to write, or whose neighbours.
 */
export class KedaDetector {
  readonly #options: KedaDetectorOptions;
  readonly #lease: OperatorLease | undefined;
  readonly #writes: ExternalWrites;
  readonly #failures: FailureLog;
  #evidence: string | undefined;
  #leaseState: LeaseState['kind'] | undefined;
  /** Without permission, KEDA is detected by its writes alone; that is logged once. */
  readonly #forbidden: FailureLog;
  #isPartReported = false;
  /** Objects that are left alone by themselves, of which that was told. */
  readonly #reported = new Set<string>();

  constructor(options: KedaDetectorOptions) {
    const { kedaNamespace: namespace, kedaLeaseEverywhere: countsEverywhere, clock, logger } = options;
    this.#options = options;
    this.#lease =
      namespace === '' ? undefined : new OperatorLease({ ...options, namespace, countsEverywhere });
    this.#writes = new ExternalWrites(clock);
    const failing = "Cannot see whether KEDA's operator runs; it is tried again";
    this.#failures = new FailureLog({ logger, failing });
    const line = { level: 'warning', message: LEASE_FORBIDDEN } as const;
    this.#forbidden = new FailureLog({ logger, failing: LEASE_FORBIDDEN, lineOf: () => line });
  }

  /** By what it is known that another operator acts on all objects; `undefined` while none is seen, and while nobody looks. */
  get evidence(): string | undefined {
    return this.#evidence;
  }

  /** By what it is known that somebody else acts on one object. */
  evidenceFor(kind: string, { metadata }: KubernetesObject): string | undefined {
    return this.#evidence ?? this.#writes.on(kind, metadata);
  }

  /** Whether one object is to be left alone, though not all of them are; that is told once for as long as it lasts. */
  isManagedByKeda(kind: string, object: KubernetesObject): boolean {
    const key = `${kind} ${keyOf(object.metadata)}`;
    const evidence = this.#writes.on(kind, object.metadata);
    if (evidence === undefined) this.#reported.delete(key);
    else if (!this.#reported.has(key)) {
      this.#reported.add(key);
      if (this.#reported.size <= MAX_EVENTS) this.#recordEvent(kind, object, evidence);
    }
    return evidence !== undefined;
  }

  /**
   * Acts for as long as no other operator runs: begins once none is seen, ends when one is, and so on until the signal aborts.
   *
   * @param act comes back once its signal has aborted and nothing acts any more
   */
  async runWhileSoleOperator(
    signal: AbortSignal,
    act: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const stopWatching = this.#watch();
    let run: Run | undefined;
    try {
      for (const kind of Object.values(this.#options.kinds)) await kind.synced(signal);
      while (!signal.aborted) {
        const isSoleOperator = await this.#isSoleOperator(signal);
        if (isSoleOperator === true && !run) run = begin(act, signal);
        if (isSoleOperator === false && run) {
          run.stop();
          await run.done;
          run = undefined;
        }
        await this.#options.clock.sleep(POLL_INTERVAL_MS, { signal: run?.untilFailure ?? signal });
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      stopWatching();
      run?.stop();
      await run?.done.catch(() => {}); // whatever it was, it was thrown above
      this.#evidence = undefined;
      this.#writes.clear();
      this.#reported.clear();
    }
  }

  /** @returns `undefined` while it cannot be seen: what goes on goes on, what waits waits */
  async #isSoleOperator(signal: AbortSignal): Promise<boolean | undefined> {
    let look: LeaseState;
    try {
      look = this.#lease ? await this.#lease.look(signal) : { kind: 'absent' };
      this.#failures.succeed();
    } catch (error) {
      signal.throwIfAborted();
      this.#failures.fail(error);
      return undefined;
    }
    if (look.kind === 'forbidden') {
      const { kedaNamespace } = this.#options;
      this.#forbidden.fail(undefined, { lease: `${kedaNamespace}/${OPERATOR_LEASE}` });
    }
    if (look.kind === 'ended' && this.#leaseState !== 'ended') this.#writes.clear();
    this.#leaseState = look.kind;
    this.#report(this.#evidenceOf(look));
    this.#reportPart();
    return this.#evidence === undefined;
  }

  #evidenceOf(look: LeaseState): string | undefined {
    if (look.kind === 'held')
      return `the lease ${look.namespace}/${OPERATOR_LEASE} is held by "${shortened(look.holder)}"`;
    if (look.kind === 'given up')
      return `the lease ${look.namespace}/${OPERATOR_LEASE} was given up, and another may take it over`;
    return this.#writes.everywhere;
  }

  #report(evidence: string | undefined): void {
    const { logger } = this.#options;
    const before = this.#evidence;
    this.#evidence = evidence;
    if (evidence === undefined) {
      if (before !== undefined)
        logger.info('No other operator acts on ScaledObjects any more: this one does', {});
      return;
    }
    if (before !== undefined) return;
    logger.warning(
      'Another operator acts on ScaledObjects and ScaledJobs: they are left to it while it does',
      { evidence },
    );
    let left = MAX_EVENTS;
    for (const [kind, objects] of Object.entries(this.#options.kinds))
      for (const object of objects.values()) if (left-- > 0) this.#recordEvent(kind, object, evidence);
  }

  /** Tells that some objects are left alone by themselves, and that none is any more. */
  #reportPart(): void {
    const { logger } = this.#options;
    const evidence = this.#writes.anywhere;
    if (this.#evidence !== undefined || evidence === undefined) this.#reported.clear();
    if (this.#evidence !== undefined) this.#isPartReported = false;
    else if (evidence !== undefined && !this.#isPartReported) {
      this.#isPartReported = true;
      const message =
        'Somebody else acts on some ScaledObjects or ScaledJobs: these are left alone while that lasts';
      logger.warning(message, { evidence });
    } else if (evidence === undefined && this.#isPartReported) {
      this.#isPartReported = false;
      logger.info('Nobody else is seen to act on some ScaledObjects or ScaledJobs any more', {});
    }
  }

  #recordEvent(kind: string, object: KubernetesObject, evidence: string): void {
    const message = `Another operator acts on this object (${evidence}), so this one leaves it alone until that has ended; stop one of both`;
    eventsOf(object, kind, this.#options.events).warning(REASON, message);
  }

  #watch(): () => void {
    const endings = Object.entries(this.#options.kinds).map(([kind, objects]) =>
      objects.onChange(
        ({ previous, current }) => {
          if (current) this.#writes.observe(kind, previous, current);
        },
        { replay: true },
      ),
    );
    endings.push(
      this.#options.hpas.onChange(
        ({ previous, current }) => current && this.#writes.observeHpa(previous, current),
        {
          replay: true,
        },
      ),
    );
    return () => {
      for (const end of endings) end();
    };
  }
}

/** Names of others are as long and as strange as they like. */
function shortened(name: string): string {
  return printable(name.slice(0, MAX_NAME_LENGTH));
}

interface Run {
  readonly done: Promise<void>;
  /** Aborts with the error as what acts fails, and with the signal that all of it ends by. */
  readonly untilFailure: AbortSignal;
  readonly stop: () => void;
}

/** Follows the promise once: it lasts for months, and would keep whatever each look hung on it. */
function begin(act: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Run {
  const [ending, failing] = [new AbortController(), new AbortController()];
  const done = act(AbortSignal.any([signal, ending.signal]));
  done.catch((error: unknown) => failing.abort(error));
  const stop = () => ending.abort(new Error('another operator acts'));
  return { done, untilFailure: AbortSignal.any([signal, failing.signal]), stop };
}
