import { FairShare } from '#lib/concurrency/event-loop.ts';
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

/** What an HTTP client works with. */
export interface HttpClientOptions extends NetworkOptions {
  readonly clock: Clock;
  readonly userAgent: string;
  /** By default none. */
  readonly credentials?: CredentialSource;
  /** By default 10 s. */
  readonly connectTimeoutMs?: number;
  /** Bounds what is held of responses together with other clients, shared by tenants; by default each is bounded alone. */
  readonly longResponses?: LongResponses;
  /** By which long responses are handed out one by one, together with those of other clients; by default alone. */
  readonly share?: FairShare | undefined;
  /** Told of each request before it is sent. */
  readonly onUse?: (client: HttpClient) => void;
}

/** What is asked. */
export interface HttpRequest {
  readonly url: URL;
  /** By default GET. */
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A longer response is an error; by default 4 MiB. */
  readonly maxBytes?: number;
  /** Told how long the response is so far, and waited for before more is read. */
  readonly onLength?: ReceiveOptions['onLength'];
  /** By default only the signal bounds the request. */
  readonly timeoutMs?: number;
}

/** A response with its whole body. */
export interface HttpResponse {
  readonly statusCode: number;
  /** By their names in lower case; of one that came more than once, the first. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** What the server was shown of us: what it writes is told by these. */
  readonly secrets: Secrets;
}

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;
/** To read a longer body takes some milliseconds at the worst: nobody else is to wait for several of them. */
const SMALL_RESPONSE_BYTES = 4 * 1024;

/**
 * Asks servers over HTTP and HTTPS, with bounded responses and without following redirects: where these lead, nobody
 * has allowed.
 */
export class HttpClient implements AsyncDisposable {
  readonly #options: HttpClientOptions;
  readonly #share: FairShare;
  readonly #pools = new Set<HttpPool>();
  #current:
    | { readonly credentials: HttpCredentials; readonly pool: HttpPool; readonly secrets: Secrets }
    | undefined;
  #isClosed = false;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#share = options.share ?? new FairShare(options.clock);
  }

  /** Tells the credentials of this client from those of others; holds no secret. */
  get credentialName(): string {
    return this.#options.credentials?.name ?? '';
  }

  /**
   * Sends a request and reads its response, whatever its status. Of longer ones that have come, one is handed out at a
   * time, and others have the event loop for as long as it took to read.
   *
   * @throws an Error that names the host, with the cause, when there is no response in time or it is too long; the
   * signal's reason when that aborts
   */
  async exchange(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    const { url, timeoutMs, maxBytes = MAX_BYTES } = request;
    using held = this.#options.longResponses?.begin(currentTenant() ?? url.host);
    const { onLength = held?.onLength } = request;
    const expired = () => new Error(`no response within ${formatDuration(timeoutMs ?? 0)}`);
    using deadline = timeoutMs
      ? startDeadline(this.#options.clock, timeoutMs, { signal, expired })
      : undefined;
    const bound = deadline?.signal ?? signal;
    try {
      const response = await this.#exchange(request, { maxBytes, onLength, signal: bound });
      if (response.body.length > SMALL_RESPONSE_BYTES) await this.#share.next(signal);
      return response;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const cause = error instanceof AggregateError ? error.errors[0] : error; // one for each address tried
      throw new Error(`Cannot ask ${url.host}`, { cause });
    }
  }

  /**
   * The body of a response with status 200.
   *
   * @throws as {@link exchange}, and for any other status
   */
  async read(request: HttpRequest, signal: AbortSignal): Promise<Buffer> {
    const { statusCode, body } = await this.exchange(request, signal);
    if (statusCode !== 200) throw unexpectedStatus(request.url, statusCode);
    return body;
  }

  /** Has the connections closed when the requests under way have ended; the next request makes new ones. */
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

  /** One pool for each version of the credentials: the previous one ends with its last request. */
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

/** The error of a response that has another status than 200. */
export function unexpectedStatus(url: URL, statusCode: number, why?: string): Error {
  return new Error(
    `Cannot ask ${url.host}: it responds with status ${formatStatus(statusCode)}${why ? `: ${why}` : ''}`,
  );
}

/** A status as errors tell it; of a redirect, that it is not followed. */
export function formatStatus(statusCode: number): string {
  return isRedirect(statusCode) ? `${statusCode}, and redirects are not followed` : `${statusCode}`;
}

/** Whether a status says that what was asked for is elsewhere. */
export function isRedirect(statusCode: number): boolean {
  return REDIRECTS.has(statusCode);
}

const REDIRECTS: ReadonlySet<number> = new Set([300, 301, 302, 303, 307, 308]);
