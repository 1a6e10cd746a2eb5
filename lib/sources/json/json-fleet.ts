import { LongResponses } from '#lib/concurrency/long-responses.ts';
import { FairSemaphore, Semaphore } from '#lib/concurrency/semaphore.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import type { HttpClient } from '../http/http-client.ts';
import type { Sample } from '../sample.ts';
import type { JsonExtract } from './json-query.ts';

/** One of many servers with the same query. */
export interface FleetMember {
  readonly url: URL;
  /** Identify its number. */
  readonly labels: Readonly<Record<string, string>>;
  /** For notes. */
  readonly name: string;
}

interface FleetRequest {
  readonly http: Pick<HttpClient, 'read'>;
  readonly extract: JsonExtract;
  /** Members of one namespace do not delay those of another. */
  readonly namespace: string;
  /** Timeout of the request to each member. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly note?: ((text: string) => void) | undefined;
}

/** Concurrent requests of all queries, of which a namespace gets half, and of one query. */
const MAX_CONCURRENT = 100;
const MAX_PER_QUERY = 40;
/**
 * Limits the memory of responses: 100 times 256 KiB, and 8 times 4 MiB for longer ones, are less than 64 MiB. A long
 * response that waits for a permit pauses its socket.
 */
const SHORT_BYTES = 256 * 1024;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_LONG = 8;
const MAX_NOTED = 5;
/** Maximum time that a member waits for earlier ones. */
const MAX_WAIT_MS = 15_000;

/** Queries many small servers for JSON; a failing server affects only its own number. */
export class JsonFleet {
  readonly #parallel = new FairSemaphore(MAX_CONCURRENT);
  readonly #long = new LongResponses({ shortBytes: SHORT_BYTES, maxConcurrent: MAX_LONG });
  readonly #clock: Clock;

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  /** Time after which all members have responded or failed. */
  static maxDurationMs(timeoutMs: number): number {
    return timeoutMs + MAX_WAIT_MS;
  }

  /**
   * Returns the numbers of the members that have one.
   *
   * @throws an Error with the cause of the first failure, if no member has a number
   */
  async query(members: readonly FleetMember[], request: FleetRequest): Promise<readonly Sample[]> {
    const own = new Semaphore(MAX_PER_QUERY);
    const expired = () => new Error('earlier requests took too long');
    const maxMs = JsonFleet.maxDurationMs(request.timeoutMs);
    using deadline = startDeadline(this.#clock, maxMs, { signal: request.signal, expired });
    const attempt = { ...request, own, signal: deadline.signal };
    const results = await Promise.all(members.map((member) => this.#attempt(member, attempt)));
    request.signal.throwIfAborted();
    const samples = results.filter((result) => 'value' in result);
    const failures = results.filter((result) => 'error' in result);
    const [first] = failures;
    if (first && samples.length === 0)
      throw new Error(`None of ${members.length} pods has a value; first failure: ${first.name}`, {
        cause: first.error,
      });
    for (const { name, error } of failures.slice(0, MAX_NOTED))
      request.note?.(`${name} has no value: ${describeError(error)}`);
    if (failures.length > MAX_NOTED)
      request.note?.(`${failures.length} of ${members.length} pods have no value`);
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
    using buffered = this.#long.begin(namespace);
    const { onLength } = buffered;
    return extract.readNumber(await http.read({ url, timeoutMs, maxBytes: MAX_BYTES, onLength }, signal));
  }
}
