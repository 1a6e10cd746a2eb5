import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import type { LongResponses } from '#lib/concurrency/long-responses.ts';
import { currentTenant } from '#lib/concurrency/tenant.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { NetworkOptions } from '../network/allowed-hosts.ts';
import type { Secrets } from '../secrets.ts';
import {
  type CredentialSource,
  collectSecrets,
  type HttpCredentials,
  NO_CREDENTIALS,
} from './http-credentials.ts';
import { connectionPool, expectResponse, type HttpPool } from './http-pool.ts';
import { type ReceivedResponse, type ReceiveOptions, receiveResponse } from './receive-response.ts';

export interface HttpClientOptions extends NetworkOptions {
  readonly clock: Clock;
  readonly userAgent: string;
  readonly credentials?: CredentialSource;
  /** By default 10 s. */
  readonly connectTimeoutMs?: number;
  /** Limits the buffered bytes of long responses together with other clients; tenants share the limit fairly. */
  readonly longResponses?: LongResponses;
  /** Called before each request. */
  readonly onUse?: (client: HttpClient) => void;
}

export interface HttpRequest {
  readonly url: URL;
  /** By default GET. */
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A longer response is an error; by default 4 MiB. */
  readonly maxBytes?: number;
  /** Called with the bytes received so far; reading pauses until its promise settles. */
  readonly onLength?: ReceiveOptions['onLength'];
  /** By default only the signal bounds the request. */
  readonly timeoutMs?: number;
  /** Whether parsing even a short response takes milliseconds; it is returned as a long one then. */
  readonly isSlowToParse?: boolean;
}

/** A response with its whole body. */
export interface HttpResponse {
  readonly statusCode: number;
  /** By lower-case name; the first value of repeated headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The secrets sent to the server; redact its text with these. */
  readonly secrets: Secrets;
}

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;
/** Parsing a longer body may take milliseconds, so such responses are returned one at a time. */
const SMALL_RESPONSE_BYTES = 4 * 1024;

/**
 * An HTTP and HTTPS client with bounded responses. Does not follow redirects, whose targets are not checked against the
 * allowed hosts.
 */
export class HttpClient implements AsyncDisposable {
  readonly #options: HttpClientOptions;
  readonly #share: EventLoopShare;
  readonly #pools = new Set<HttpPool>();
  #current:
    | { readonly credentials: HttpCredentials; readonly pool: HttpPool; readonly secrets: Secrets }
    | undefined;
  #isClosed = false;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#share = options.share ?? new EventLoopShare(options.clock);
  }

  /** Identifies the credentials of this client; contains no secret. */
  get credentialName(): string {
    return this.#options.credentials?.name ?? '';
  }

  /**
   * Sends a request and reads the response, whatever its status. Long responses are returned one at a time, so that
   * parsing them takes at most half of the event loop.
   *
   * @throws an Error that names the host, with the cause, if the response is late or too long; the signal's reason if
   * it aborts
   */
  async exchange(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    const { url, timeoutMs, maxBytes = MAX_BYTES, isSlowToParse = false } = request;
    const tenant = currentTenant();
    using buffered =
      tenant === undefined
        ? this.#options.longResponses?.begin(url.host)
        : this.#options.longResponses?.begin(tenant, url.host);
    const { onLength = buffered?.onLength } = request;
    const expired = () => new Error(`no response within ${formatDuration(timeoutMs ?? 0)}`);
    using deadline = timeoutMs
      ? startDeadline(this.#options.clock, timeoutMs, { signal, expired })
      : undefined;
    const bound = deadline?.signal ?? signal;
    try {
      const response = await this.#exchange(request, { maxBytes, onLength, signal: bound });
      if (isSlowToParse || response.body.length > SMALL_RESPONSE_BYTES) await this.#share.next(signal);
      return response;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const cause = error instanceof AggregateError ? error.errors[0] : error; // one for each address tried
      throw new Error(`Cannot query ${url.host}`, { cause });
    }
  }

  /**
   * Returns the body of a response with status 200.
   *
   * @throws as {@link exchange}, and for any other status
   */
  async read(request: HttpRequest, signal: AbortSignal): Promise<Buffer> {
    const { statusCode, body } = await this.exchange(request, signal);
    if (statusCode !== 200) throw unexpectedStatus(request.url, statusCode);
    return body;
  }

  /** Closes the connections when running requests have completed; the next request opens new ones. */
  releaseConnections(): void {
    this.#retire(this.#current?.pool);
    this.#current = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#pools].map((pool) => pool.destroy()));
  }

  async #exchange(request: HttpRequest, receive: ReceiveOptions): Promise<HttpResponse> {
    const { url, method = 'GET', headers = {}, body = null } = request;
    const { userAgent, credentials = NO_CREDENTIALS, onUse } = this.#options;
    const { current } = credentials;
    onUse?.(this);
    const sent = {
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: {
        accept: 'application/json',
        'user-agent': userAgent,
        ...(current.authorization === undefined ? {} : { authorization: current.authorization }),
        ...headers,
      },
      body,
    };
    const { pool, secrets } = this.#connectionsFor(current);
    return await pool.use(url.origin, receive.signal, async (connection) => {
      expectResponse(connection, receive.maxBytes);
      const response = await receiveResponse(connection, sent, receive);
      return {
        ...{ statusCode: response.statusCode, body: response.body, secrets },
        get headers() {
          return takeFirstValues(response);
        },
      };
    });
  }

  /** Returns the pool of the current credentials; the pool of previous ones closes after its last request. */
  #connectionsFor(credentials: HttpCredentials): { readonly pool: HttpPool; readonly secrets: Secrets } {
    if (this.#isClosed) throw new Error('the client is closed');
    if (this.#current?.credentials === credentials) return this.#current;
    this.#retire(this.#current?.pool);
    const { connectTimeoutMs = CONNECT_TIMEOUT_MS, ...options } = this.#options;
    const pool = connectionPool(credentials, { ...options, connectTimeoutMs });
    this.#pools.add(pool);
    this.#current = { credentials, pool, secrets: collectSecrets(credentials) };
    return this.#current;
  }

  #retire(pool: HttpPool | undefined): void {
    pool?.close().then(() => this.#pools.delete(pool));
  }
}

function takeFirstValues({ headers }: ReceivedResponse): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      String((Array.isArray(value) ? value[0] : value) ?? ''),
    ]),
  );
}

interface ReadOptions<Value> {
  readonly url: URL;
  /** Name of the system, for messages. */
  readonly system?: string;
  readonly parse: (body: Buffer) => Value;
  /** Finds the reason in the body of a response with another status than 200. */
  readonly findReason?: (body: Buffer) => string | undefined;
}

/**
 * Parses a response with status 200.
 *
 * @throws an Error for any other status, or with the error of `parse` as its cause; without the secrets of the request
 */
export function extractResult<Value>(
  { statusCode, body, secrets }: Pick<HttpResponse, 'statusCode' | 'body' | 'secrets'>,
  { url, system, parse, findReason }: ReadOptions<Value>,
): Value {
  if (statusCode !== 200) {
    const reason = findReason?.(body);
    throw unexpectedStatus(url, statusCode, reason && secrets.redact(reason));
  }
  try {
    return parse(body);
  } catch (error) {
    const from = system === undefined ? url.host : `${system} at ${url.host}`;
    throw new Error(`Cannot read response of ${from}`, { cause: secrets.redactError(error) });
  }
}

/** Creates the error of a response with another status than 200. */
export function unexpectedStatus(url: URL, statusCode: number, why?: string): Error {
  return new Error(`Cannot query ${url.host}: status ${formatStatus(statusCode)}${why ? `: ${why}` : ''}`);
}

/** Formats a status for errors; mentions that redirects are not followed. */
export function formatStatus(statusCode: number): string {
  return isRedirect(statusCode) ? `${statusCode} (redirects are not followed)` : `${statusCode}`;
}

export function isRedirect(statusCode: number): boolean {
  return REDIRECTS.has(statusCode);
}

const REDIRECTS: ReadonlySet<number> = new Set([300, 301, 302, 303, 307, 308]);
