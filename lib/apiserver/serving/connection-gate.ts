import type { Server, Socket } from 'node:net';
import { LruMap } from '#lib/cache/lru-map.ts';
import type { Clock } from '#lib/time/clock.ts';

/** How many connections there may be. */
export interface ConnectionLimits {
  /** Together, whatever they do. */
  readonly connections: number;
  /** In the middle of their TLS handshake, which takes 175 kB each; others wait for theirs, which takes little. */
  readonly handshakes: number;
}

/** More than watchers are let. */
export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = { connections: 2_000, handshakes: 128 };

/** What a gate is made with. */
interface ConnectionGateOptions {
  readonly limits: ConnectionLimits;
  /** How long a connection may wait for its handshake. */
  readonly waitMs: number;
  /** How many connections are kept for an address, whatever others ask for. */
  readonly reservedFor: (address: string) => number;
  readonly clock: Clock;
  /** Told of each connection that is refused, or cut off for another. */
  readonly onRefused: (reason: 'connections' | 'handshakes') => void;
}

/** While others wait, a handshake may take this long: one that is not held up takes milliseconds. */
const PATIENCE_MS = 2_000;

interface Place extends AddressedPlace {
  readonly socket: Socket;
  readonly key: string;
  readonly begin: () => void;
  shakingSinceMs: number;
  deadline?: Disposable;
}

/**
 * Lets connections in up to a number, and some of them begin their handshake. Beyond that the address suffers that has
 * the most beyond those that are reserved for it: its oldest makes place for one of an address that has fewer, and
 * where it is the newcomer's own, that one waits, or is refused. So one that opens thousands keeps itself out, and nobody else.
 *
 * Not a `FairSemaphore`: what is admitted can be taken back here, and addresses have reserved connections.
 */
export class ConnectionGate {
  readonly #options: ConnectionGateOptions;
  readonly #byKey = new Map<string, Place>();
  readonly #open = new PlacesByAddress<Place>();
  readonly #shaking = new PlacesByAddress<Place>();
  /** In the order in which they came. */
  readonly #waiting = new Set<Place>();
  #patience: Disposable | undefined;

  constructor(options: ConnectionGateOptions) {
    this.#options = options;
  }

  get connectionCount(): number {
    return this.#open.size;
  }

  get handshakeCount(): number {
    return this.#shaking.size;
  }

  /** @param begin starts the handshake, now or later */
  admit(socket: Socket, begin: () => void): void {
    const { remoteAddress: address } = socket;
    if (address === undefined) {
      socket.destroy(); // its client has gone
      return;
    }
    socket.on('error', () => {}); // 'close' follows; until its handshake begins nobody else listens
    const place: Place = { address, socket, key: keyOf(socket), begin, shakingSinceMs: 0 };
    if (!this.#hasCapacity(this.#open, 'connections', place)) {
      this.#cutOff(place, 'connections');
      return;
    }
    this.#open.add(place);
    this.#byKey.set(place.key, place);
    socket.once('close', () => {
      this.#forget(place);
      this.#beginWaiting();
    });
    if (this.#hasCapacity(this.#shaking, 'handshakes', place)) this.#begin(place);
    else this.#wait(place);
  }

  /** A connection's handshake is over. */
  finish(connection: Ends): void {
    const place = this.#byKey.get(keyOf(connection));
    if (!place) return;
    this.#shaking.delete(place);
    this.#beginWaiting();
  }

  /** Cuts off those that wait. */
  close(): void {
    for (const place of this.#waiting) {
      this.#forget(place);
      place.socket.destroy();
    }
    this.#endPatience();
  }

  /** Whether there is capacity for one more, if need be because another has been cut off for it. */
  #hasCapacity(places: PlacesByAddress<Place>, limit: keyof ConnectionLimits, newcomer: Place): boolean {
    if (places.size < this.#options.limits[limit]) return true;
    const victim = places.victimFor(newcomer, this.#options.reservedFor);
    if (!victim) return false;
    this.#cutOff(victim, limit);
    return true;
  }

  #cutOff(place: Place, reason: keyof ConnectionLimits): void {
    this.#forget(place);
    this.#options.onRefused(reason);
    place.socket.destroy();
  }

  #forget(place: Place): void {
    place.deadline?.[Symbol.dispose]();
    this.#waiting.delete(place);
    this.#shaking.delete(place);
    this.#open.delete(place);
    if (this.#byKey.get(place.key) === place) this.#byKey.delete(place.key);
  }

  #begin(place: Place): void {
    place.shakingSinceMs = this.#options.clock.monotonicMs();
    this.#shaking.add(place);
    place.begin();
  }

  #wait(place: Place): void {
    const { clock, waitMs } = this.#options;
    this.#waiting.add(place);
    place.deadline = clock.startTimer(waitMs, () => {
      this.#cutOff(place, 'handshakes');
      if (this.#waiting.size === 0) this.#endPatience();
    });
    this.#startPatience();
  }

  #beginWaiting(): void {
    for (const next of this.#waiting) {
      if (this.#shaking.size >= this.#options.limits.handshakes) return;
      this.#waiting.delete(next);
      next.deadline?.[Symbol.dispose]();
      this.#begin(next);
    }
    this.#endPatience();
  }

  /** Looks after the oldest handshake, for as long as others wait. */
  #startPatience(): void {
    const { oldest } = this.#shaking;
    if (this.#patience || !oldest) return;
    const { clock } = this.#options;
    const ageMs = clock.monotonicMs() - oldest.shakingSinceMs;
    this.#patience = clock.startTimer(Math.max(0, PATIENCE_MS - ageMs), () => {
      this.#patience = undefined;
      for (;;) {
        const { oldest: late } = this.#shaking;
        if (!late || clock.monotonicMs() - late.shakingSinceMs < PATIENCE_MS) break;
        this.#cutOff(late, 'handshakes');
      }
      this.#beginWaiting();
      if (this.#waiting.size > 0) this.#startPatience();
    });
  }

  #endPatience(): void {
    this.#patience?.[Symbol.dispose]();
    this.#patience = undefined;
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

/** Both ends of a connection: a client may use one port of its own towards two of our addresses. */
type Ends = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Ends): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

/** For how long an address stays known after it was last recognised. */
const KNOWN_MS = 3_600_000;

/** One that is asked from with every request is noted no more often than this. */
const NOTED_AGAIN_MS = 60_000;

/** As many of each kind are known; the one that was noted the longest ago goes first. */
const MAX_ADDRESSES = 1_024;

/** How many connections of one address are kept for it, whatever others ask for. */
const RESERVED = { user: 64, probe: 4 } as const;

/** What an address is known for: somebody proved there who they are, or asked for our health, as anybody may. */
export type KnownFor = keyof typeof RESERVED;

/** The addresses that some places among the connections are reserved for. */
export class KnownAddresses {
  readonly #clock: Clock;
  readonly #notedAtMs: Readonly<Record<KnownFor, LruMap<string, number>>> = {
    user: new LruMap({ max: MAX_ADDRESSES }),
    probe: new LruMap({ max: MAX_ADDRESSES }),
  };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(address: string, knownFor: KnownFor): void {
    const noted = this.#notedAtMs[knownFor];
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - (noted.peek(address) ?? Number.NEGATIVE_INFINITY) >= NOTED_AGAIN_MS)
      noted.set(address, nowMs);
  }

  /** How many connections are reserved for an address. */
  reservedFor(address: string): number {
    if (this.#isKnown(address, 'user')) return RESERVED.user;
    return this.#isKnown(address, 'probe') ? RESERVED.probe : 0;
  }

  #isKnown(address: string, knownFor: KnownFor): boolean {
    const notedAtMs = this.#notedAtMs[knownFor].peek(address);
    return notedAtMs !== undefined && this.#clock.monotonicMs() - notedAtMs < KNOWN_MS;
  }
}

/** Something that one address takes up. */
interface AddressedPlace {
  readonly address: string;
}

/** Places in the order in which they were taken, counted by address. */
class PlacesByAddress<Place extends AddressedPlace> {
  readonly #places = new Set<Place>();
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#places.size;
  }

  /** The one that was taken first. */
  get oldest(): Place | undefined {
    const [oldest] = this.#places;
    return oldest;
  }

  add(place: Place): void {
    if (this.#places.has(place)) return;
    this.#places.add(place);
    this.#counts.set(place.address, (this.#counts.get(place.address) ?? 0) + 1);
  }

  delete(place: Place): void {
    if (!this.#places.delete(place)) return;
    const count = (this.#counts.get(place.address) ?? 0) - 1;
    if (count > 0) this.#counts.set(place.address, count);
    else this.#counts.delete(place.address);
  }

  /**
   * Whose place another may have: the oldest of the address that has the most beyond those reserved for it.
   *
   * @returns `undefined` where no address has more than the newcomer's would have
   */
  victimFor(newcomer: Place, reservedFor: (address: string) => number): Place | undefined {
    const own = (this.#counts.get(newcomer.address) ?? 0) + 1 - reservedFor(newcomer.address);
    let [worst, most]: [string | undefined, number] = [undefined, own];
    for (const [address, count] of this.#counts) {
      const excess = count - reservedFor(address);
      if (address !== newcomer.address && excess > most) [worst, most] = [address, excess];
    }
    if (worst === undefined) return undefined;
    for (const place of this.#places) if (place.address === worst) return place;
    return undefined;
  }
}
