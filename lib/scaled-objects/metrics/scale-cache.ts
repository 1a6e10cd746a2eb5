import type { ScaleClient, ScaleTarget } from '#lib/control/scale-client.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What scales are read with. */
interface ScaleCacheOptions {
  readonly scales: Pick<ScaleClient, 'get'>;
  readonly clock: Clock;
}

interface Read {
  readonly target: string;
  isUnderWay: boolean;
  /** `undefined` while it is not known. */
  replicas: number | undefined;
  readAtMs: number;
}

/** What was read so long ago tells nothing any more, where it is read again no less often than an HPA asks. */
const VALID_MS = 45_000;
/** The same where it is read more seldom, up to a limit: what people have set meanwhile is not taken back. */
const VALID_INTERVALS = 3;
const MAX_VALID_MS = 120_000;

/** How many replicas targets are to have that no informer follows, as their scales told last. */
export class ScaleCache implements Disposable {
  readonly #options: ScaleCacheOptions;
  readonly #reads = new Map<string, Read>();
  readonly #ending = new AbortController();

  constructor(options: ScaleCacheOptions) {
    this.#options = options;
  }

  /**
   * Has the scale of an owner's target read, once at a time; where it cannot be, it is unknown.
   *
   * @param freshMs what was read, or tried, no longer ago than this is not read again
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
   * How many replicas an owner's target is to have; `undefined` where that is not known, or not any more.
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
    this.#ending.abort(new Error('nobody wants to know any more'));
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
      read.replicas = undefined; // the controller tells why, in the condition
    }
    read.readAtMs = clock.monotonicMs();
    read.isUnderWay = false;
  }
}

function nameOf({ apiVersion, kind, namespace, name }: ScaleTarget): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`;
}
