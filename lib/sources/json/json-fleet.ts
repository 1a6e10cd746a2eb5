import { LongResponses } from '#lib/concurrency/long-responses.ts';
import { FairSemaphore, Semaphore } from '#lib/concurrency/semaphore.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import type { HttpClient } from '../http/http-client.ts';
import type { Sample } from '../sample.ts';
import type { JsonExtract } from './json-query.ts';

/** One of many that are asked the same. */
export interface FleetMember {
  readonly url: URL;
  /** Tell its number from those of the others. */
  readonly labels: Readonly<Record<string, string>>;
  /** As notes call it. */
  readonly name: string;
}

/** What members are asked. */
export interface FleetRequest {
  readonly http: Pick<HttpClient, 'read'>;
  readonly extract: JsonExtract;
  /** Whose members they are: those of one namespace never keep others from being asked. */
  readonly namespace: string;
  /** Bounds the request of each member, from when it is sent. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly note?: ((text: string) => void) | undefined;
}

/** Of all who ask together, of which one namespace has half at most; and of one who asks, which leaves others of its namespace some. */
const MAX_CONCURRENT = 100;
const MAX_PER_QUERY = 40;
/**
 * What is held of responses: 100 times 256 KiB, and 8 times 4 MiB of those that are longer, is less than 64 MiB. One
 * that must wait for its permit pauses its socket.
 */
const SHORT_BYTES = 256 * 1024;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_LONG = 8;
const MAX_NOTED = 5;
/** How long a member waits for those before it. */
const MAX_WAIT_MS = 15_000;

/** Asks many small servers for their JSON; one that fails or hangs costs its own number alone. */
export class JsonFleet {
  readonly #parallel = new FairSemaphore(MAX_CONCURRENT);
  readonly #long = new LongResponses({ shortBytes: SHORT_BYTES, maxConcurrent: MAX_LONG });
  readonly #clock: Clock;

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /** In how long all members have responded or failed. */
  static maxDurationMs(timeoutMs: number): number {
    return timeoutMs + MAX_WAIT_MS;
  }

  /**
   * The numbers of those that have one.
   *
   * @throws an Error that says why the first has none, where none of them has
   */
  async query(members: readonly FleetMember[], request: FleetRequest): Promise<readonly Sample[]> {
    const own = new Semaphore(MAX_PER_QUERY);
    const expired = () => new Error('others took too long');
    const longestMs = JsonFleet.maxDurationMs(request.timeoutMs);
    using deadline = startDeadline(this.#clock, longestMs, { signal: request.signal, expired });
    const attempt = { ...request, own, signal: deadline.signal };
    const results = await Promise.all(members.map((member) => this.#attempt(member, attempt)));
    request.signal.throwIfAborted();
    const samples = results.filter((result) => 'value' in result);
    const failures = results.filter((result) => 'error' in result);
    const [first] = failures;
    if (first && samples.length === 0)
      throw new Error(`None of ${members.length} has a value, not ${first.name}`, { cause: first.error });
    for (const { name, error } of failures.slice(0, MAX_NOTED))
      request.note?.(`${name} has no value: ${describeError(error)}`);
    if (failures.length > MAX_NOTED) request.note?.(`${failures.length} of ${members.length} have no value`);
    return samples;
  }

  async #attempt(
    member: FleetMember,
    request: FleetRequest & { readonly own: Semaphore },
  ): Promise<Sample | { readonly name: string; readonly error: unknown }> {
    const { own, namespace, signal } = request;
    try {
      using _own = await own.acquire(signal);
      using _parallel = await this.#parallel.acquire(namespace, signal);
      return { value: await this.#readNumber(member, request), labels: member.labels };
    } catch (error) {
      return { name: member.name, error };
    }
  }

  async #readNumber({ url }: FleetMember, request: FleetRequest): Promise<number> {
    const { http, extract, timeoutMs, namespace, signal } = request;
    using held = this.#long.begin(namespace);
    const { onLength } = held;
    return extract.readNumber(await http.read({ url, timeoutMs, maxBytes: MAX_BYTES, onLength }, signal));
  }
}
