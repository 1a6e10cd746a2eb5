import {
  ANONYMOUS,
  type ApiContext,
  type HeldResponse,
  type Middleware,
} from '#lib/apiserver/http/api-context.ts';
import { timedOut, tooManyRequests } from '#lib/apiserver/http/status-error.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What a gate is made with. */
interface DeliveryGateOptions {
  /** How many bytes of responses may be held at once, until their clients have taken them. */
  readonly maxBytes: number;
  readonly clock: Clock;
  /** Told of each response that is refused, or cut off for another. */
  readonly onRefused: () => void;
}

/** What a server may hold of responses that nobody else gets, and of what is on its way into sockets. */
export const DEFAULT_MAX_HELD_BYTES = 64 * 1024 * 1024;

/** While others wait, a client may take so long to read: most take milliseconds. */
const PATIENCE_MS = 2_000;
/** How long a response waits before its client is told to come again. */
const WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 1;

class Entry implements HeldResponse {
  readonly party: string;
  readonly cutOff: () => void;
  bytes = 0;
  /** Since when its client may read. */
  deliveringSinceMs: number | undefined;
  isOver = false;
  waiting: { readonly bytes: number; readonly timer: Disposable; end(error?: Error): void } | undefined;
  readonly #gate: DeliveryGate;

  constructor(gate: DeliveryGate, party: string, cutOff: () => void) {
    this.#gate = gate;
    this.party = party;
    this.cutOff = cutOff;
  }

  hold(bytes: number): Promise<void> | void {
    return this.#gate.hold(this, bytes);
  }

  deliver(): void {
    this.#gate.deliver(this);
  }

  [Symbol.dispose](): void {
    this.#gate.leave(this);
  }
}

/**
 * Bounds what responses hold together. Beyond that they wait, those of whom the least is held for first; and while any
 * waits, who takes longer to read than others is cut off where the most is held for them. So one that reads nothing keeps
 * itself out, and nobody else.
 *
 * Not a `FairSemaphore`: sizes are known late and corrected, one response that is longer than the bound goes alone, and responses that are
 * not read are cut off for others.
 */
export class DeliveryGate {
  readonly #options: DeliveryGateOptions;
  readonly #bytesByParty = new Map<string, number>();
  /** In the order in which they began. */
  readonly #delivering = new Set<Entry>();
  readonly #waiting = new Set<Entry>();
  #heldBytes = 0;
  #patience: Disposable | undefined;

  constructor(options: DeliveryGateOptions) {
    this.#options = options;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** @param cutOff ends the response in the middle, and with it what is held of it */
  enter(party: string, cutOff: () => void): HeldResponse {
    return new Entry(this, party, cutOff);
  }

  /** See {@link HeldResponse}, as for those below. */
  hold(entry: Entry, bytes: number): Promise<void> | void {
    if (entry.isOver) throw timedOut();
    if (bytes === 0 || entry.bytes > 0 || (this.#waiting.size === 0 && this.#hasCapacity(bytes))) {
      this.#setBytes(entry, bytes);
      this.#admitWaiting();
      return;
    }
    return new Promise((resolve, reject) => {
      const end = (error?: Error) => {
        timer[Symbol.dispose]();
        this.#waiting.delete(entry);
        if (error) reject(error);
        else resolve();
      };
      const timer = this.#options.clock.startTimer(WAIT_MS, () => {
        this.#options.onRefused();
        end(tooManyRequests(RETRY_AFTER_SECONDS));
        this.#admitWaiting();
      });
      entry.waiting = { bytes, timer, end };
      this.#waiting.add(entry);
      this.#admitWaiting();
      this.#cutOffSlow();
    });
  }

  deliver(entry: Entry): void {
    if (entry.isOver || entry.bytes === 0) return;
    entry.deliveringSinceMs = this.#options.clock.monotonicMs();
    this.#delivering.add(entry);
    if (this.#waiting.size > 0) this.#cutOffSlow();
  }

  leave(entry: Entry): void {
    if (entry.isOver) return;
    entry.isOver = true;
    this.#delivering.delete(entry);
    if (this.#waiting.has(entry)) entry.waiting?.end(timedOut()); // nobody hears it
    this.#setBytes(entry, 0);
    this.#admitWaiting();
  }

  /** What is longer than the bound goes alone. */
  #hasCapacity(bytes: number): boolean {
    return this.#heldBytes === 0 || this.#heldBytes + bytes <= this.#options.maxBytes;
  }

  #setBytes(entry: Entry, bytes: number): void {
    const change = bytes - entry.bytes;
    if (change === 0) return;
    entry.bytes = bytes;
    this.#heldBytes += change;
    const ofParty = (this.#bytesByParty.get(entry.party) ?? 0) + change;
    if (ofParty > 0) this.#bytesByParty.set(entry.party, ofParty);
    else this.#bytesByParty.delete(entry.party);
  }

  #admitWaiting(): void {
    for (;;) {
      const next = this.#nextWaiting();
      if (!next?.waiting || !this.#hasCapacity(next.waiting.bytes)) break;
      this.#setBytes(next, next.waiting.bytes);
      next.waiting.end();
    }
    if (this.#waiting.size === 0) this.#endPatience();
  }

  /** The first of those for whom the least is held; the others wait for it, however little they need. */
  #nextWaiting(): Entry | undefined {
    let [next, least]: [Entry | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const entry of this.#waiting) {
      const held = this.#bytesByParty.get(entry.party) ?? 0;
      if (held < least) [next, least] = [entry, held];
    }
    return next;
  }

  /** Cuts off who has had the time to read, for as long as others wait; and comes back when the next will have. */
  #cutOffSlow(): void {
    this.#endPatience();
    const { clock, onRefused } = this.#options;
    while (this.#waiting.size > 0) {
      const slowest = this.#slowestOfMost();
      if (!slowest) return; // what is held is still being made
      const hadMs = clock.monotonicMs() - (slowest.deliveringSinceMs ?? 0);
      if (hadMs < PATIENCE_MS) {
        this.#patience = clock.startTimer(PATIENCE_MS - hadMs, () => this.#cutOffSlow());
        return;
      }
      onRefused();
      this.leave(slowest);
      slowest.cutOff();
    }
  }

  /** The oldest of those that are being read, of whom the most is held for. */
  #slowestOfMost(): Entry | undefined {
    let [slowest, most] = [undefined as Entry | undefined, 0];
    for (const entry of this.#delivering) {
      const held = this.#bytesByParty.get(entry.party) ?? 0;
      if (held > most) [slowest, most] = [entry, held];
    }
    return slowest;
  }

  #endPatience(): void {
    this.#patience?.[Symbol.dispose]();
    this.#patience = undefined;
  }
}

/** Counts the memory of a response for the user of its request, or for the client's address where the user is anonymous. */
export function accountResponse(gate: DeliveryGate): Middleware {
  return (context, next) => {
    const { state, res } = context;
    const held = gate.enter(partyOf(context), () => res.destroy());
    state.held = held;
    state.end.whenOver(() => held[Symbol.dispose]());
    return next();
  };
}

function partyOf({ req, state }: ApiContext): string {
  const { name } = state.user;
  return name === ANONYMOUS.name ? `address ${req.socket.remoteAddress}` : `user ${name}`;
}
