import type { Server, Socket } from 'node:net';
import { LruMap } from '#lib/cache/lru-map.ts';
import { FairQueue } from '#lib/concurrency/fair-queue.ts';
import type { Clock } from '#lib/time/clock.ts';

export interface ConnectionLimits {
  /** In total, in any state. */
  readonly connections: number;
  /**
   * In the middle of their TLS handshake, which takes 175 kB each; a connection that waits for its handshake takes
   * little. `undefined` for plain connections, which start at once.
   */
  readonly handshakes: number | undefined;
}

/** More than the maximum number of watchers. */
export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = { connections: 2_000, handshakes: 128 };

interface ConnectionGateOptions {
  readonly limits: ConnectionLimits;
  /** How long a connection may wait for its handshake. */
  readonly waitMs: number;
  /** Number of connections that are reserved for an address. */
  readonly reservedFor: (address: string) => number;
  readonly clock: Clock;
  /** Called for each connection that is refused, or cut off for another. */
  readonly onRefused: (reason: 'connections' | 'handshakes') => void;
}

/** How long a handshake may take while others wait: normally it takes milliseconds. */
const CONTENDED_HANDSHAKE_MS = 2_000;
/** Consecutive turns of the event loop with new connections after which a handshake starts nevertheless. */
const MAX_ARRIVAL_TURNS = 16;

interface Slot extends AddressedSlot {
  readonly socket: Socket;
  readonly key: string;
  readonly start: () => void;
  /** `undefined` until the handshake starts. */
  shakingSinceMs: number | undefined;
  deadline?: Disposable;
}

/**
 * Bounds the number of connections, and of concurrent handshakes. Beyond a bound, the address with the most connections
 * above its reservation yields: its oldest is cut off for one of an address that has fewer. Where that is the new
 * connection's own address, the new one waits, or is refused. So an address that opens thousands blocks only itself.
 *
 * Node accepts one connection per turn of the event loop, and a turn with a handshake takes milliseconds, on a busy
 * machine tens of them. So that connections of a flood do not delay others in the queue of the kernel, handshakes start
 * one per turn, round robin by address, and if connections arrive in each turn, then in every 16th turn only.
 *
 * Not a `FairSemaphore`: an admission can be revoked here, and addresses have reserved connections.
 */
export class ConnectionGate {
  readonly #options: ConnectionGateOptions;
  readonly #byKey = new Map<string, Slot>();
  readonly #open = new SlotsByAddress<Slot>();
  /** Includes those whose handshake is about to start. */
  readonly #shaking = new SlotsByAddress<Slot>();
  /** Those whose handshake is about to start, and some that have closed since. */
  readonly #starting = new FairQueue<Slot>();
  #isStarting = false;
  #hasArrival = false;
  #arrivalTurns = 0;
  /** In order of arrival. */
  readonly #waiting = new Set<Slot>();
  #cutOffTimer: Disposable | undefined;

  constructor(options: ConnectionGateOptions) {
    this.#options = options;
  }

  get connectionCount(): number {
    return this.#open.size;
  }

  /** Number of handshakes that have started. */
  get handshakeCount(): number {
    return [...this.#shaking].filter(({ shakingSinceMs }) => shakingSinceMs !== undefined).length;
  }

  /** @param start starts the handshake, which is later, or reads requests of a plain connection */
  admit(socket: Socket, start: () => void): void {
    const { remoteAddress: address } = socket;
    if (address === undefined) {
      socket.destroy(); // its client has left
      return;
    }
    socket.on('error', () => {}); // 'close' follows; nothing else listens until the handshake begins
    const slot: Slot = { address, socket, key: keyOf(socket), start, shakingSinceMs: undefined };
    if (!this.#hasCapacity(this.#open, 'connections', slot)) {
      this.#cutOff(slot, 'connections');
      return;
    }
    this.#open.add(slot);
    this.#byKey.set(slot.key, slot);
    socket.once('close', () => {
      this.#remove(slot);
      this.#beginWaiting();
    });
    if (this.#options.limits.handshakes === undefined) {
      start();
      return;
    }
    this.#hasArrival = true;
    if (this.#hasCapacity(this.#shaking, 'handshakes', slot)) this.#begin(slot);
    else this.#wait(slot);
  }

  /** Marks the handshake of a connection as over. */
  finish(connection: Ends): void {
    const slot = this.#byKey.get(keyOf(connection));
    if (!slot) return;
    this.#shaking.delete(slot);
    this.#beginWaiting();
  }

  /** Cuts off those that wait. */
  close(): void {
    for (const slot of this.#waiting) {
      this.#remove(slot);
      slot.socket.destroy();
    }
    this.#cancelCutOff();
  }

  /** Whether there is capacity for one more, possibly after another has been cut off. */
  #hasCapacity(slots: SlotsByAddress<Slot>, limit: keyof ConnectionLimits, newcomer: Slot): boolean {
    if (slots.size < (this.#options.limits[limit] ?? Number.POSITIVE_INFINITY)) return true;
    const victim = slots.findEviction(newcomer, this.#options.reservedFor);
    if (!victim) return false;
    this.#cutOff(victim, limit);
    return true;
  }

  #cutOff(slot: Slot, reason: keyof ConnectionLimits): void {
    this.#remove(slot);
    this.#options.onRefused(reason);
    slot.socket.destroy();
  }

  #remove(slot: Slot): void {
    slot.deadline?.[Symbol.dispose]();
    this.#waiting.delete(slot);
    this.#shaking.delete(slot);
    this.#open.delete(slot);
    if (this.#byKey.get(slot.key) === slot) this.#byKey.delete(slot.key);
  }

  #begin(slot: Slot): void {
    this.#shaking.add(slot);
    this.#starting.push(slot.address, slot);
    if (this.#isStarting) return;
    this.#isStarting = true;
    setImmediate(this.#startInTurn);
  }

  readonly #startInTurn = () => {
    this.#arrivalTurns = this.#hasArrival ? this.#arrivalTurns + 1 : MAX_ARRIVAL_TURNS;
    this.#hasArrival = false;
    if (this.#arrivalTurns >= MAX_ARRIVAL_TURNS) {
      this.#arrivalTurns = 0;
      this.#isStarting = this.#startNext();
    }
    if (this.#isStarting) setImmediate(this.#startInTurn);
  };

  /** @returns whether there was one */
  #startNext(): boolean {
    let slot = this.#starting.shift();
    while (slot && !this.#shaking.has(slot)) slot = this.#starting.shift();
    if (!slot) return false;
    slot.shakingSinceMs = this.#options.clock.monotonicMs();
    this.#shaking.delete(slot);
    this.#shaking.add(slot); // in the order of their starts
    slot.start();
    if (this.#waiting.size > 0) this.#scheduleCutOff();
    return true;
  }

  #wait(slot: Slot): void {
    const { clock, waitMs } = this.#options;
    this.#waiting.add(slot);
    slot.deadline = clock.startTimer(waitMs, () => {
      this.#cutOff(slot, 'handshakes');
      if (this.#waiting.size === 0) this.#cancelCutOff();
    });
    this.#scheduleCutOff();
  }

  #beginWaiting(): void {
    for (const next of this.#waiting) {
      if (this.#shaking.size >= (this.#options.limits.handshakes ?? 0)) return;
      this.#waiting.delete(next);
      next.deadline?.[Symbol.dispose]();
      this.#begin(next);
    }
    this.#cancelCutOff();
  }

  /** While others wait, cuts off handshakes that take too long. */
  #scheduleCutOff(): void {
    const oldest = this.#findOldestHandshake();
    if (this.#cutOffTimer || !oldest) return;
    const leftMs = Math.max(0, CONTENDED_HANDSHAKE_MS - oldest.ageMs);
    this.#cutOffTimer = this.#options.clock.startTimer(leftMs, () => {
      this.#cutOffTimer = undefined;
      for (;;) {
        const late = this.#findOldestHandshake();
        if (!late || late.ageMs < CONTENDED_HANDSHAKE_MS) break;
        this.#cutOff(late.slot, 'handshakes');
      }
      this.#beginWaiting();
      if (this.#waiting.size > 0) this.#scheduleCutOff();
    });
  }

  /** Among those that have started. */
  #findOldestHandshake(): { readonly slot: Slot; readonly ageMs: number } | undefined {
    for (const slot of this.#shaking)
      if (slot.shakingSinceMs !== undefined)
        return { slot, ageMs: this.#options.clock.monotonicMs() - slot.shakingSinceMs };
    return undefined;
  }

  #cancelCutOff(): void {
    this.#cutOffTimer?.[Symbol.dispose]();
    this.#cutOffTimer = undefined;
  }
}

/** Passes connections through the gate before Node handles them. */
export function guardConnections(server: Server, gate: ConnectionGate): void {
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (connection: Socket) => {
    gate.admit(connection, () => {
      for (const listener of begin) Reflect.apply(listener, server, [connection]);
    });
  });
}

/** Both ends of a connection: a client may use one of its ports for two of our addresses. */
type Ends = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Ends): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

/** How long an address has a reservation after the last request that gave it one. */
const RESERVATION_MS = 3_600_000;

/** A reservation is renewed no more often than this. */
const NOTED_AGAIN_MS = 60_000;

/** Of each kind; the least recently noted one is evicted first. */
const MAX_ADDRESSES = 1_024;

/** Number of connections that are reserved for one address. */
const RESERVED = { user: 64, probe: 4 } as const;

/** Why an address has a reservation: an authenticated user, or a probe of the overall health. */
export type ReservationKind = keyof typeof RESERVED;

/** Addresses that connections are reserved for. */
export class ReservedAddresses {
  readonly #clock: Clock;
  readonly #notedAtMs: Readonly<Record<ReservationKind, LruMap<string, number>>> = {
    user: new LruMap({ max: MAX_ADDRESSES }),
    probe: new LruMap({ max: MAX_ADDRESSES }),
  };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(address: string, kind: ReservationKind): void {
    const noted = this.#notedAtMs[kind];
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - (noted.peek(address) ?? Number.NEGATIVE_INFINITY) >= NOTED_AGAIN_MS)
      noted.set(address, nowMs);
  }

  /** Number of connections that are reserved for an address. */
  reservedFor(address: string): number {
    if (this.#isReserved(address, 'user')) return RESERVED.user;
    return this.#isReserved(address, 'probe') ? RESERVED.probe : 0;
  }

  #isReserved(address: string, kind: ReservationKind): boolean {
    const notedAtMs = this.#notedAtMs[kind].peek(address);
    return notedAtMs !== undefined && this.#clock.monotonicMs() - notedAtMs < RESERVATION_MS;
  }
}

interface AddressedSlot {
  readonly address: string;
}

/** Slots in the order in which they were taken, counted by address. */
class SlotsByAddress<Slot extends AddressedSlot> {
  readonly #slots = new Set<Slot>();
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#slots.size;
  }

  [Symbol.iterator](): Iterator<Slot> {
    return this.#slots.values();
  }

  has(slot: Slot): boolean {
    return this.#slots.has(slot);
  }

  add(slot: Slot): void {
    if (this.#slots.has(slot)) return;
    this.#slots.add(slot);
    this.#counts.set(slot.address, (this.#counts.get(slot.address) ?? 0) + 1);
  }

  delete(slot: Slot): void {
    if (!this.#slots.delete(slot)) return;
    const count = (this.#counts.get(slot.address) ?? 0) - 1;
    if (count > 0) this.#counts.set(slot.address, count);
    else this.#counts.delete(slot.address);
  }

  /**
   * The slot to free for another: the oldest of the address that has the most above its reservation.
   *
   * @returns `undefined` where no address would have more than the new connection's
   */
  findEviction(newcomer: Slot, reservedFor: (address: string) => number): Slot | undefined {
    const own = (this.#counts.get(newcomer.address) ?? 0) + 1 - reservedFor(newcomer.address);
    let [worst, most]: [string | undefined, number] = [undefined, own];
    for (const [address, count] of this.#counts) {
      const excess = count - reservedFor(address);
      if (address !== newcomer.address && excess > most) [worst, most] = [address, excess];
    }
    if (worst === undefined) return undefined;
    for (const slot of this.#slots) if (slot.address === worst) return slot;
    return undefined;
  }
}
