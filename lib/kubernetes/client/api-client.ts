import type { Dispatcher } from 'undici';
import type { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import type { LongResponses } from '#lib/concurrency/long-responses.ts';
import { currentTenant, runForTenant } from '#lib/concurrency/tenant.ts';
import type { TokenBucket } from '#lib/concurrency/token-bucket.ts';
import { onAbort, raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type Deadline, startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { ClusterAccess } from '../access/cluster-access.ts';
import { ApiConnections } from './api-connections.ts';
import { ApiError, apiErrorOf, MalformedResponse, TooLongResponse } from './api-error.ts';
import { DryRun } from './dry-run.ts';

export interface ApiClientOptions {
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Bounds a request with its response, and a stream until its response begins; 30 s by default. */
  readonly requestTimeoutMs?: number;
  /** A longer response is an error; 128 MiB by default. */
  readonly maxResponseBytes?: number;
  /**
   * Each request takes a token before it is sent, which namespaces share; none by default. Waiting for it is bounded by
   * the signal alone.
   */
  readonly rateLimit?: TokenBucket | undefined;
  /** Maximum number of retries, each after the delay that a busy server requests; by default 0. */
  readonly maxRetries?: number;
  /** Called right before a request that may change something; an error that it throws becomes that of the request. */
  readonly beforeWrite?: (() => void) | undefined;
  /** Bounds what is buffered of responses, shared by tenants; by default each response has its own bound. */
  readonly longResponses?: LongResponses | undefined;
  /** Where long responses are parsed one at a time, in shares of the event loop; by default as they arrive. */
  readonly share?: EventLoopShare | undefined;
  /** Responds to writes instead of the API server, which then gets only reads and reviews. */
  readonly dryRun?: DryRun | undefined;
}

/** Options of one request. */
export interface RequestOptions {
  /** By default `application/json`. */
  readonly accept?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** By default that of the client. */
  readonly maxResponseBytes?: number;
}

const REQUEST_TIMEOUT_MS = 30_000;
const MAX_RESPONSE_BYTES = 128 * 1024 * 1024;

/** An object takes at most 1.5 MiB in etcd; as JSON up to six times that, where each `<` is escaped. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

const MAX_REFUSAL_BYTES = 64 * 1024;
const UNAUTHORIZED = 401;

/** Longer retry delays are not waited for: a caller with many objects has others to process. */
const MAX_RETRY_DELAY_MS = 30_000;

/** A request to the API server. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query, as in `/api/v1/nodes?limit=500`. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** By default `application/json`. */
  readonly contentType?: string;
}

/**
 * Sends JSON to the API server over persistent connections with current credentials.
 *
 * Every method throws an {@link ApiError} when the server refuses, a {@link MalformedResponse} when the response is too
 * long or not JSON, an Error with the cause when the server is unreachable or too slow, and the signal's reason when
 * that aborts.
 */
export class ApiClient {
  readonly #options: ApiClientOptions;
  readonly #connections: ApiConnections;

  constructor(options: ApiClientOptions) {
    this.#options = options;
    this.#connections = new ApiConnections(options.access);
  }

  /** @param path with its query, as in `/api/v1/nodes?limit=500` */
  async getJson(path: string, options: RequestOptions = {}): Promise<unknown> {
    return await this.#exchange({ method: 'GET', path }, options);
  }

  async postJson(path: string, body: unknown, options: RequestOptions = {}): Promise<unknown> {
    return await this.#exchange({ method: 'POST', path, body }, options);
  }

  /** Sends any request, and returns the JSON of its response. */
  async requestJson(request: ApiRequest, options: RequestOptions = {}): Promise<unknown> {
    return await this.#exchange(request, options);
  }

  /**
   * Streams the lines of a response without end, such as the events of a watch; returns once the server has begun.
   *
   * @returns the lines, until the server ends; leaving the loop over them closes the connection
   */
  async streamLines(path: string, options: RequestOptions = {}): Promise<AsyncGenerator<string, void, void>> {
    const call: ApiRequest = { method: 'GET', path };
    const stream = new AbortController();
    const parent = onAbort(options.signal, () => stream.abort(options.signal?.reason));
    const left = () => {
      parent[Symbol.dispose]();
      stream.abort();
    };
    try {
      await this.#options.rateLimit?.take(stream.signal, tenantOf(path));
      using deadline = this.#startDeadline({ ...options, signal: stream.signal });
      onAbort(deadline.signal, () => stream.abort(deadline.signal.reason));
      const { body } = await this.#send(call, options, stream.signal);
      return this.#linesOf(call, { body, left, signal: options.signal });
    } catch (error) {
      left();
      throw this.#explain(call, error, options.signal);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections[Symbol.asyncDispose]();
  }

  async #exchange(call: ApiRequest, options: RequestOptions): Promise<unknown> {
    const { clock, maxRetries = 0, dryRun } = this.#options;
    if (dryRun && DryRun.isWrite(call))
      return await dryRun.respond(call, (path) => this.getJson(path, options));
    for (let retry = 0; ; retry++) {
      try {
        return await this.#attempt(call, options);
      } catch (error) {
        const delayMs = retry < maxRetries ? retryDelayMs(error) : undefined;
        if (delayMs === undefined) throw error;
        await clock.sleep(delayMs, options);
      }
    }
  }

  async #attempt(call: ApiRequest, options: RequestOptions): Promise<unknown> {
    const { rateLimit, longResponses, share } = this.#options;
    const tenant = tenantOf(call.path);
    await rateLimit?.take(options.signal, tenant);
    using deadline = this.#startDeadline(options);
    using buffered = longResponses?.begin(tenant);
    try {
      const { body } = await this.#send(call, options, deadline.signal);
      const { maxResponseBytes = this.#options.maxResponseBytes ?? MAX_RESPONSE_BYTES } = options;
      return await readJson(body, maxResponseBytes, {
        onLength: buffered?.onLength,
        beforeLong: share && (() => runForTenant(tenant, () => share.next(deadline.signal))),
      });
    } catch (error) {
      throw this.#explain(call, error, options.signal);
    }
  }

  async *#linesOf(
    call: ApiRequest,
    stream: {
      readonly body: ResponseBody;
      readonly left: () => void;
      readonly signal: AbortSignal | undefined;
    },
  ): AsyncGenerator<string, void, void> {
    try {
      yield* splitLines(stream.body, MAX_LINE_BYTES);
    } catch (error) {
      throw this.#explain(call, error, stream.signal);
    } finally {
      stream.left();
    }
  }

  async #send(
    call: ApiRequest,
    { accept }: RequestOptions,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const { access, userAgent, beforeWrite } = this.#options;
    const authorization = await raceAbort(access.authorization(), signal);
    const { method, path, body, contentType = 'application/json' } = call;
    if (method !== 'GET') beforeWrite?.();
    const request = this.#connections.current.request({
      origin: access.server.origin,
      path: access.server.pathname.replace(/\/$/, '') + path,
      method,
      headers: {
        accept: accept ?? 'application/json',
        'user-agent': userAgent,
        ...(authorization === undefined ? {} : { authorization }),
        ...(body === undefined ? {} : { 'content-type': contentType }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal,
    });
    // undici observes the signal only once it has a connection, which may be late or never with an unresponsive server.
    const response = await raceAbort(request, signal);
    const { statusCode, headers } = response;
    if (statusCode >= 200 && statusCode < 300) return response;
    if (statusCode === UNAUTHORIZED) access.refuse(authorization);
    const retryAfter = headers['retry-after'];
    throw apiErrorOf(describe(call), {
      statusCode,
      body: (await readBytes(response.body, MAX_REFUSAL_BYTES)).toString('utf8'),
      retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
    });
  }

  #startDeadline({ timeoutMs, signal }: RequestOptions): Deadline {
    const { clock, requestTimeoutMs } = this.#options;
    const durationMs = timeoutMs ?? requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
    const expired = () => new Error(`no response within ${formatDuration(durationMs)}`);
    return startDeadline(clock, durationMs, signal ? { signal, expired } : { expired });
  }

  #explain(call: ApiRequest, error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason;
    if (error instanceof ApiError) return error;
    if (error instanceof TooLongResponse) return new TooLongResponse(describe(call), { cause: error });
    if (error instanceof MalformedResponse) return new MalformedResponse(describe(call), { cause: error });
    const cause = error instanceof AggregateError ? error.errors[0] : error; // one for each address tried
    return new Error(`${describe(call)} at ${this.#options.access.server.origin}`, { cause });
  }
}

/** The retry delay that a busy server requests; `undefined` without one, or if it is too long. */
function retryDelayMs(error: unknown): number | undefined {
  if (!(error instanceof ApiError) || (error.statusCode !== 429 && error.statusCode < 500)) return undefined;
  const { retryAfterMs = Number.POSITIVE_INFINITY } = error;
  return retryAfterMs <= MAX_RETRY_DELAY_MS ? retryAfterMs : undefined;
}

function describe({ method, path }: ApiRequest): string {
  return `Cannot ${method.toLowerCase()} ${path.split('?', 1)[0]}`;
}

/**
 * The tenant whose token a request takes: that of the current work, which may refer to objects of any namespace; else
 * the namespace of the path, empty for cluster-scoped ones.
 */
function tenantOf(path: string): string {
  return currentTenant() ?? /^[^?]*?\/namespaces\/([^/?]+)/.exec(path)?.[1] ?? '';
}

/** The body of a response, as it arrives. */
type ResponseBody = Dispatcher.ResponseData['body'];

interface ReadOptions {
  /** Called with the length so far; reading continues when the returned promise has settled. */
  readonly onLength?: ((bytes: number) => Promise<unknown> | undefined) | undefined;
  /** Called before a body that takes milliseconds to parse. */
  readonly beforeLong?: (() => Promise<void>) | undefined;
}

/** A longer body takes a millisecond or more to parse. */
const MAX_QUICK_BYTES = 64 * 1024;

/**
 * Reads a whole body as JSON.
 *
 * @throws {MalformedResponse} when it is too long, or not JSON
 */
export async function readJson(
  body: ResponseBody,
  maxBytes: number,
  { onLength, beforeLong }: ReadOptions = {},
): Promise<unknown> {
  const bytes = await readBytes(body, maxBytes, onLength);
  if (bytes.length > maxBytes) throw new TooLongResponse(`response has more than ${maxBytes} bytes`);
  if (bytes.length > MAX_QUICK_BYTES) await beforeLong?.();
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new MalformedResponse('response is not JSON'); // the parser's own message quotes it, and reviews contain tokens
  }
}

/** Reads at least this many bytes, or all; leaving the rest unread closes the connection. */
async function readBytes(
  body: ResponseBody,
  minBytes: number,
  onLength?: ReadOptions['onLength'],
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > minBytes) break;
    await onLength?.(bytes);
  }
  return Buffer.concat(chunks, bytes);
}

const NEWLINE = 0x0a;

/**
 * Splits a byte stream into lines, decoded as UTF-8, without empty ones.
 *
 * @throws {MalformedResponse} when a line is longer than `maxLineBytes`; an Error when the stream ends within one
 */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
): AsyncGenerator<string, void, void> {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      pending.push(chunk.subarray(start, end));
      pendingBytes += end - start;
      if (pendingBytes > maxLineBytes) throw tooLong(maxLineBytes);
      if (pendingBytes > 0) yield Buffer.concat(pending, pendingBytes).toString('utf8');
      pending = [];
      pendingBytes = 0;
      start = end + 1;
    }
    pending.push(chunk.subarray(start));
    pendingBytes += chunk.length - start;
    if (pendingBytes > maxLineBytes) throw tooLong(maxLineBytes);
  }
  if (pendingBytes > 0) throw new Error('stream ended within a line');
}

function tooLong(maxLineBytes: number): MalformedResponse {
  return new MalformedResponse(`line has more than ${maxLineBytes} bytes`);
}
