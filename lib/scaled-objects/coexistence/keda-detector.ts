import type { ChangeSource } from '#lib/control/controller.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import type { ObjectChange } from '#lib/kubernetes/informer/object-store.ts';
import { type KubernetesObject, keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { eventsOf } from '../api/object-events.ts';
import type { ScaledObjectsOptions } from '../scaled-objects-options.ts';
import { type LeaseState, OPERATOR_LEASE, OperatorLease, type OperatorLeaseOptions } from './keda-lease.ts';
import { ExternalWrites, shortened, type WrittenObject } from './keda-writes.ts';

export interface WatchedKind extends ChangeSource<ObjectChange<WrittenObject>> {
  values(): Iterable<WrittenObject>;
}

interface KedaDetectorOptions
  extends Omit<OperatorLeaseOptions, 'clock' | 'namespace' | 'countsEverywhere'>,
    Pick<ScaledObjectsOptions, 'kedaNamespace' | 'kedaLeaseEverywhere'> {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Kinds by name. */
  readonly kinds: Readonly<Record<string, WatchedKind>>;
  readonly hpas: ChangeSource<ObjectChange<KubernetesObject>>;
}

const POLL_INTERVAL_MS = 5_000;
/** Limits events; the log and the doctor report the same. */
const MAX_EVENTS = 100;
const REASON = 'AnotherControllerActs';

const LEASE_FORBIDDEN =
  "No permission to read the lease of KEDA's operator; detecting KEDA by managedFields only";

/**
 * Detects whether KEDA's operator runs as well, so that only one of the two scales. Only its lease shows that KEDA manages all
 * objects. KEDA can also run without a lease: then writes of another field manager show which namespaces or objects it manages.
 */
export class KedaDetector {
  readonly #options: KedaDetectorOptions;
  readonly #lease: OperatorLease | undefined;
  readonly #writes: ExternalWrites;
  readonly #failures: FailureLog;
  #evidence: string | undefined;
  #leaseState: LeaseState['kind'] | undefined;
  /** Logs missing permission once. */
  readonly #forbidden: FailureLog;
  #isPartReported = false;
  /** `KIND KEY` of objects that have an event about another operator. */
  readonly #reported = new Set<string>();

  constructor(options: KedaDetectorOptions) {
    const { kedaNamespace: namespace, kedaLeaseEverywhere: countsEverywhere, clock, logger } = options;
    this.#options = options;
    this.#lease =
      namespace === '' ? undefined : new OperatorLease({ ...options, namespace, countsEverywhere });
    this.#writes = new ExternalWrites(clock);
    const failing = "Cannot detect whether KEDA's operator runs; retrying";
    this.#failures = new FailureLog({ logger, failing });
    const line = { level: 'warning', message: LEASE_FORBIDDEN } as const;
    this.#forbidden = new FailureLog({ logger, failing: LEASE_FORBIDDEN, lineOf: () => line });
  }

  /** Why another operator is assumed to manage all objects; `undefined` if none is detected or this replica does not lead. */
  get evidence(): string | undefined {
    return this.#evidence;
  }

  /** Why another operator is assumed to manage this object; `undefined` if none is detected. */
  evidenceFor(kind: string, { metadata }: KubernetesObject): string | undefined {
    return this.#evidence ?? this.#writes.on(kind, metadata);
  }

  /** Whether another operator manages this object, but not all objects. Records an event when that begins. */
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
   * Runs while no other operator is detected: starts, aborts and restarts it as operators come and go, until the signal aborts.
   *
   * @param act resolves once its signal has aborted and all its work has ended
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
      await run?.done.catch(() => {}); // thrown above
      this.#evidence = undefined;
      this.#writes.clear();
      this.#reported.clear();
    }
  }

  /** @returns `undefined` if that cannot be determined: nothing is started or stopped */
  async #isSoleOperator(signal: AbortSignal): Promise<boolean | undefined> {
    let state: LeaseState;
    try {
      state = this.#lease ? await this.#lease.read(signal) : { kind: 'absent' };
      this.#failures.succeed();
    } catch (error) {
      signal.throwIfAborted();
      this.#failures.fail(error);
      return undefined;
    }
    if (state.kind === 'forbidden') {
      const { kedaNamespace } = this.#options;
      this.#forbidden.fail(undefined, { lease: `${kedaNamespace}/${OPERATOR_LEASE}` });
    }
    if (state.kind === 'ended' && this.#leaseState !== 'ended') this.#writes.clear();
    this.#leaseState = state.kind;
    this.#report(this.#evidenceOf(state));
    this.#reportPart();
    return this.#evidence === undefined;
  }

  #evidenceOf(state: LeaseState): string | undefined {
    if (state.kind === 'held')
      return `the lease ${state.namespace}/${OPERATOR_LEASE} is held by "${shortened(state.holder)}"`;
    if (state.kind === 'released')
      return `the lease ${state.namespace}/${OPERATOR_LEASE} was released, and another replica may acquire it`;
    return undefined;
  }

  #report(evidence: string | undefined): void {
    const { logger } = this.#options;
    const before = this.#evidence;
    this.#evidence = evidence;
    if (evidence === undefined) {
      if (before !== undefined)
        logger.info('No other operator manages ScaledObjects and ScaledJobs any longer; managing them', {});
      return;
    }
    if (before !== undefined) return;
    logger.warning('Another operator manages ScaledObjects and ScaledJobs; leaving them alone', { evidence });
    let remainingEvents = MAX_EVENTS;
    for (const [kind, objects] of Object.entries(this.#options.kinds))
      for (const object of objects.values())
        if (remainingEvents-- > 0) this.#recordEvent(kind, object, evidence);
  }

  /** Logs when another operator begins or ceases to manage a part of the objects. */
  #reportPart(): void {
    const { logger } = this.#options;
    const evidence = this.#writes.anywhere;
    if (this.#evidence !== undefined || evidence === undefined) this.#reported.clear();
    if (this.#evidence !== undefined) this.#isPartReported = false;
    else if (evidence !== undefined && !this.#isPartReported) {
      this.#isPartReported = true;
      const message = 'Another operator manages some ScaledObjects or ScaledJobs; leaving these alone';
      logger.warning(message, { evidence });
    } else if (evidence === undefined && this.#isPartReported) {
      this.#isPartReported = false;
      logger.info('Managing all ScaledObjects and ScaledJobs again', {});
    }
  }

  #recordEvent(kind: string, object: KubernetesObject, evidence: string): void {
    const message = `Another operator manages this object (${evidence}); the autoscaler does not scale it until the other operator stops. Run only one of the two`;
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

interface Run {
  readonly done: Promise<void>;
  /** Aborts with the error when the run fails, and with the outer signal. */
  readonly untilFailure: AbortSignal;
  readonly stop: () => void;
}

/** Attaches one handler to the promise: it stays pending for months, and a handler for each poll would leak memory. */
function begin(act: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Run {
  const [ending, failing] = [new AbortController(), new AbortController()];
  const done = act(AbortSignal.any([signal, ending.signal]));
  done.catch((error: unknown) => failing.abort(error));
  const stop = () => ending.abort(new Error('another operator acts'));
  return { done, untilFailure: AbortSignal.any([signal, failing.signal]), stop };
}
