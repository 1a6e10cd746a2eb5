import type { ChangeSource } from '#lib/control/controller.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import type { ObjectChange } from '#lib/kubernetes/informer/object-store.ts';
import { type KubernetesObject, keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import { printable } from '#lib/telemetry/printable.ts';
import type { Clock } from '#lib/time/clock.ts';
import { eventsOf } from '../api/object-events.ts';
import { type LeaseLook, OPERATOR_LEASE, OperatorLease, type OperatorLeaseOptions } from './keda-lease.ts';
import { OtherWrites, type WrittenObject } from './keda-writes.ts';

/** Objects of one kind, and what becomes of them. */
export interface FollowedKind extends ChangeSource<ObjectChange<WrittenObject>> {
  values(): Iterable<WrittenObject>;
}

/** What {@link OtherOperator} works with. */
interface OtherOperatorOptions
  extends Omit<OperatorLeaseOptions, 'clock' | 'namespace' | 'countsEverywhere'> {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Where the lease of KEDA's operator counts; empty where it counts nowhere. */
  readonly kedaNamespace: string;
  /** Whether it counts in any other namespace, too. */
  readonly kedaLeaseEverywhere: boolean;
  /** By the names of their kinds. */
  readonly kinds: Readonly<Record<string, FollowedKind>>;
  readonly hpas: ChangeSource<ObjectChange<KubernetesObject>>;
}

const LOOK_MS = 5_000;
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
export class OtherOperator {
  readonly #options: OtherOperatorOptions;
  readonly #lease: OperatorLease | undefined;
  readonly #writes: OtherWrites;
  readonly #failures: FailureLog;
  #sign: string | undefined;
  #look: LeaseLook['kind'] | undefined;
  /** Without permission, KEDA is detected by its writes alone; that is logged once. */
  readonly #forbidden: FailureLog;
  #isSomeTold = false;
  /** Objects that are left alone by themselves, of which that was told. */
  readonly #left = new Set<string>();

  constructor(options: OtherOperatorOptions) {
    const { kedaNamespace: namespace, kedaLeaseEverywhere: countsEverywhere, clock, logger } = options;
    this.#options = options;
    this.#lease =
      namespace === '' ? undefined : new OperatorLease({ ...options, namespace, countsEverywhere });
    this.#writes = new OtherWrites(clock);
    const failing = "Cannot see whether KEDA's operator runs; it is tried again";
    this.#failures = new FailureLog({ logger, failing });
    const line = { level: 'warning', message: LEASE_FORBIDDEN } as const;
    this.#forbidden = new FailureLog({ logger, failing: LEASE_FORBIDDEN, lineOf: () => line });
  }

  /** By what it is known that another operator acts on all objects; `undefined` while none is seen, and while nobody looks. */
  get sign(): string | undefined {
    return this.#sign;
  }

  /** By what it is known that somebody else acts on one object. */
  signOn(kind: string, { metadata }: KubernetesObject): string | undefined {
    return this.#sign ?? this.#writes.on(kind, metadata);
  }

  /** Whether one object is to be left alone, though not all of them are; that is told once for as long as it lasts. */
  leaves(kind: string, object: KubernetesObject): boolean {
    const key = `${kind} ${keyOf(object.metadata)}`;
    const sign = this.#writes.on(kind, object.metadata);
    if (sign === undefined) this.#left.delete(key);
    else if (!this.#left.has(key)) {
      this.#left.add(key);
      if (this.#left.size <= MAX_EVENTS) this.#tellObject(kind, object, sign);
    }
    return sign !== undefined;
  }

  /**
   * Acts for as long as no other operator runs: begins once none is seen, ends when one is, and so on until the signal aborts.
   *
   * @param act comes back once its signal has aborted and nothing acts any more
   */
  async whileAlone(signal: AbortSignal, act: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const stopFollowing = this.#follow();
    let acting: Acting | undefined;
    try {
      for (const kind of Object.values(this.#options.kinds)) await kind.synced(signal);
      while (!signal.aborted) {
        const isAlone = await this.#isAlone(signal);
        if (isAlone === true && !acting) acting = begin(act, signal);
        if (isAlone === false && acting) {
          acting.stop();
          await acting.done;
          acting = undefined;
        }
        await this.#options.clock.sleep(LOOK_MS, { signal: acting?.unfailed ?? signal });
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      stopFollowing();
      acting?.stop();
      await acting?.done.catch(() => {}); // whatever it was, it was thrown above
      this.#sign = undefined;
      this.#writes.forget();
      this.#left.clear();
    }
  }

  /** @returns `undefined` while it cannot be seen: what goes on goes on, what waits waits */
  async #isAlone(signal: AbortSignal): Promise<boolean | undefined> {
    let look: LeaseLook;
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
    if (look.kind === 'ended' && this.#look !== 'ended') this.#writes.forget();
    this.#look = look.kind;
    this.#tell(this.#signOf(look));
    this.#tellSome();
    return this.#sign === undefined;
  }

  #signOf(look: LeaseLook): string | undefined {
    if (look.kind === 'held')
      return `the lease ${look.namespace}/${OPERATOR_LEASE} is held by "${shortened(look.holder)}"`;
    if (look.kind === 'given up')
      return `the lease ${look.namespace}/${OPERATOR_LEASE} was given up, and another may take it over`;
    return this.#writes.everywhere;
  }

  #tell(sign: string | undefined): void {
    const { logger } = this.#options;
    const before = this.#sign;
    this.#sign = sign;
    if (sign === undefined) {
      if (before !== undefined)
        logger.info('No other operator acts on ScaledObjects any more: this one does', {});
      return;
    }
    if (before !== undefined) return;
    logger.warning(
      'Another operator acts on ScaledObjects and ScaledJobs: they are left to it while it does',
      { sign },
    );
    let left = MAX_EVENTS;
    for (const [kind, objects] of Object.entries(this.#options.kinds))
      for (const object of objects.values()) if (left-- > 0) this.#tellObject(kind, object, sign);
  }

  /** Tells that some objects are left alone by themselves, and that none is any more. */
  #tellSome(): void {
    const { logger } = this.#options;
    const sign = this.#writes.anywhere;
    if (this.#sign !== undefined || sign === undefined) this.#left.clear();
    if (this.#sign !== undefined) this.#isSomeTold = false;
    else if (sign !== undefined && !this.#isSomeTold) {
      this.#isSomeTold = true;
      const message =
        'Somebody else acts on some ScaledObjects or ScaledJobs: these are left alone while that lasts';
      logger.warning(message, { sign });
    } else if (sign === undefined && this.#isSomeTold) {
      this.#isSomeTold = false;
      logger.info('Nobody else is seen to act on some ScaledObjects or ScaledJobs any more', {});
    }
  }

  #tellObject(kind: string, object: KubernetesObject, sign: string): void {
    const message = `Another operator acts on this object (${sign}), so this one leaves it alone until that has ended; stop one of both`;
    eventsOf(object, kind, this.#options.events).warning(REASON, message);
  }

  #follow(): () => void {
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

interface Acting {
  readonly done: Promise<void>;
  /** Aborts with the error as what acts fails, and with the signal that all of it ends by. */
  readonly unfailed: AbortSignal;
  readonly stop: () => void;
}

/** Follows the promise once: it lasts for months, and would keep whatever each look hung on it. */
function begin(act: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Acting {
  const [ending, failing] = [new AbortController(), new AbortController()];
  const done = act(AbortSignal.any([signal, ending.signal]));
  done.catch((error: unknown) => failing.abort(error));
  const stop = () => ending.abort(new Error('another operator acts'));
  return { done, unfailed: AbortSignal.any([signal, failing.signal]), stop };
}
