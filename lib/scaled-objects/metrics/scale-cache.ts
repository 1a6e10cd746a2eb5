import type { ScaleClient, ScaleTarget } from '#lib/control/scale-client.ts';
import type { Clock } from '#lib/time/clock.ts';

interface ScaleCacheOptions {
  readonly scales: Pick<ScaleClient, 'get'>;
  readonly clock: Clock;
}

interface Read {
  readonly target: string;
  isUnderWay: boolean;
  /** `undefined` while unknown. */
  replicas: number | undefined;
  readAtMs: number;
}

/** Validity of a read scale if it is read at the sync period of HPAs or more often. */
const VALID_MS = 45_000;
/** Validity if it is read less often, up to a limit: an old value must not override a manual change. */
const VALID_INTERVALS = 3;
const MAX_VALID_MS = 120_000;

/** Caches `spec.replicas` of targets that no informer caches. */
export class ScaleCache implements Disposable {
  readonly #options: ScaleCacheOptions;
  readonly #reads = new Map<string, Read>();
  readonly #ending = new AbortController();

  constructor(options: ScaleCacheOptions) {
    this.#options = options;
  }

  /**
   * Reads the scale of an owner's target in the background, one request at a time. A failure makes the replicas unknown.
   *
   * @param freshMs skips the read if the last attempt is not older
   */
  read(owner: string, target: ScaleTarget, freshMs = 0): void {
    const previous = this.#find(owner, target);
    if (previous && this.#options.clock.monotonicMs() - previous.readAtMs < freshMs) return;
    const read = previous ?? { target: nameOf(target), isUnderWay: false, replicas: undefined, readAtMs: 0 };
    if (read.isUnderWay) return;
    this.#reads.set(owner, read);
    void this.#read(read, target);
  }

  /**
   * `spec.replicas` of an owner's target; `undefined` if unknown or expired.
   *
   * @param intervalMs how often it is read
   */
  replicas(owner: string, target: ScaleTarget, intervalMs: number): number | undefined {
    const read = this.#find(owner, target);
    const validForMs = Math.max(VALID_MS, Math.min(VALID_INTERVALS * intervalMs, MAX_VALID_MS));
    const isValid = read && this.#options.clock.monotonicMs() - read.readAtMs < validForMs;
    return isValid ? read.replicas : undefined;
  }

  delete(owner: string): void {
    this.#reads.delete(owner);
  }

  [Symbol.dispose](): void {
    this.#ending.abort(new Error('the cache is closed'));
    this.#reads.clear();
  }

  #find(owner: string, target: ScaleTarget): Read | undefined {
    const read = this.#reads.get(owner);
    return read?.target === nameOf(target) ? read : undefined;
  }

  async #read(read: Read, target: ScaleTarget): Promise<void> {
    const { scales, clock } = this.#options;
    read.isUnderWay = true;
    try {
      read.replicas = (await scales.get(target, this.#ending.signal)).specReplicas;
    } catch {
      read.replicas = undefined; // the controller reports the reason in a condition
    }
    read.readAtMs = clock.monotonicMs();
    read.isUnderWay = false;
  }
}

function nameOf({ apiVersion, kind, namespace, name }: ScaleTarget): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`;
}
