import type { Clock } from '#lib/time/clock.ts';

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
  readonly #notedAtMs: Readonly<Record<KnownFor, Map<string, number>>> = {
    user: new Map(),
    probe: new Map(),
  };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(address: string, knownFor: KnownFor): void {
    const noted = this.#notedAtMs[knownFor];
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - (noted.get(address) ?? Number.NEGATIVE_INFINITY) < NOTED_AGAIN_MS) return;
    noted.delete(address);
    noted.set(address, nowMs); // to the end
    const [oldest] = noted.keys();
    if (noted.size > MAX_ADDRESSES && oldest !== undefined) noted.delete(oldest);
  }

  /** How many connections are reserved for an address. */
  reservedFor(address: string): number {
    if (this.#isKnown(address, 'user')) return RESERVED.user;
    return this.#isKnown(address, 'probe') ? RESERVED.probe : 0;
  }

  #isKnown(address: string, knownFor: KnownFor): boolean {
    const notedAtMs = this.#notedAtMs[knownFor].get(address);
    return notedAtMs !== undefined && this.#clock.monotonicMs() - notedAtMs < KNOWN_MS;
  }
}
