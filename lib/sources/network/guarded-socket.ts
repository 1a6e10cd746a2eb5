import { once } from 'node:events';
import { isIP, type LookupFunction, Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { currentTenant } from '#lib/concurrency/tenant.ts';
import { onAbort } from '#lib/time/abort-signal.ts';
import { createAllowedLookup, type NetworkOptions } from './allowed-hosts.ts';
import { CIPHERS_WITHOUT_DHE, type SourceServer, type SourceTls } from './tls.ts';

export interface ReceiveLimits {
  readonly bytes: number;
  /** Counted by {@link GuardedSocket.countMessage}: even a message of a few bytes takes microseconds. */
  readonly messages: number;
}

/** For one statement, whose result has at most 1,001 rows and 4,096 columns. */
export const STATEMENT_LIMITS: ReceiveLimits = { bytes: 4 * 1024 * 1024, messages: 8_192 };
/** Between statements: notices, and the reason for which the server closes. */
export const IDLE_LIMITS: ReceiveLimits = { bytes: 64 * 1024, messages: 256 };
/** Interval of checks of the received bytes. */
const CHECK_INTERVAL_MS = 50;

/** A limit on the received data, enforced until it is disposed of. */
interface ResponseLimit extends Disposable {
  /** Checks the limit immediately, since a fast server may complete between two checks. @throws if it is exceeded */
  check(): void;
}

/**
 * Received before TLS is established. Chains of public authorities have 4 to 10 KB; each certificate takes up to 4 ms of
 * CPU, even one of 500 bytes, and even if its chain is not verified.
 */
export const MAX_HANDSHAKE_BYTES = 32 * 1024;

/**
 * A socket that connects only to allowed addresses, limits the data received per statement, and delivers data in the
 * turn of its tenant: parsers, TLS and logins process a chunk while it is delivered, which may take milliseconds.
 *
 * TLS must be started before the socket connects, or over a {@link SocketStream}; otherwise it reads from the
 * operating system directly.
 */
export class GuardedSocket extends Socket {
  readonly #network: NetworkOptions;
  readonly #tenant = currentTenant();
  readonly #limits: ReceiveLimits;
  #failure: Error | undefined;
  #isHandshaking = false;
  #maxMessages: number;
  #messageCount = 0;

  /** @param limits of one response */
  constructor(network: NetworkOptions, limits: ReceiveLimits = STATEMENT_LIMITS) {
    super();
    this.#network = network;
    this.#limits = limits;
    this.#maxMessages = limits.messages;
  }

  /** The reason of {@link fail}; the client library may report another error. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Connects; emits an error if the host is not allowed. */
  dial(port: number, host: string): this {
    const { allowedHosts } = this.#network;
    if (isIP(host) === 0) return super.connect({ port, host, lookup: createAllowedLookup(this.#network) });
    if (!allowedHosts.allows(host, host)) return this.destroy(allowedHosts.refusal(host, [host]));
    // Without a TLS server name, as mysql2 has none for an address, Node verifies the certificate for the host that it
    // looked up, but stores the host only for names. So the address is written as a fully qualified name that resolves to it.
    return super.connect({ port, host: `${host}.`, lookup: createFixedLookup(host) });
  }

  /** @returns `false`, which stops reading from the operating system, while the data waits for its turn */
  override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    const { share } = this.#network;
    if (this.#isHandshaking && this.bytesRead > MAX_HANDSHAKE_BYTES) {
      this.fail(longHandshake());
      return false;
    }
    if (chunk === null || !share) return super.push(chunk, encoding);
    share.schedule(this.#tenant, () => {
      if (!this.destroyed) super.push(chunk, encoding);
    });
    return false;
  }

  /** Limits the received data until `socket`, which is TLS over this socket, is secure. */
  limitHandshake(socket: TLSSocket): void {
    this.#isHandshaking = true;
    socket.once('secureConnect', () => {
      this.#isHandshaking = false;
    });
  }

  /** Destroys the connection because of invalid data from the server. */
  fail(why: Error): void {
    this.#failure ??= why;
    this.destroy(this.#failure);
  }

  /** Counts a message of the server; fails the connection above the current limit. */
  countMessage(): void {
    if (++this.#messageCount > this.#maxMessages)
      this.fail(new Error(`the response has more than ${this.#maxMessages} messages`));
  }

  /** Fails the connection if the server exceeds the limits, by default those of one response, until disposed of. */
  limitResponse({ bytes, messages }: ReceiveLimits = this.#limits): ResponseLimit {
    const before = this.bytesRead;
    this.#maxMessages = messages;
    this.#messageCount = 0;
    const check = () => {
      if (this.bytesRead - before <= bytes) return;
      this.fail(new Error(`the response is longer than ${bytes} bytes`));
    };
    const timer = setInterval(check, CHECK_INTERVAL_MS);
    return {
      check: () => {
        check();
        if (this.#failure) throw this.#failure;
      },
      [Symbol.dispose]: () => clearInterval(timer),
    };
  }
}

export function longHandshake(): Error {
  return new Error(`the TLS handshake is longer than ${MAX_HANDSHAKE_BYTES} bytes`);
}

/** Resolves any name to one address without a query. */
function createFixedLookup(address: string): LookupFunction {
  const family = isIP(address);
  return (_, { all }, callback) =>
    queueMicrotask(() => (all ? callback(null, [{ address, family }]) : callback(null, address, family)));
}

export interface DialOptions extends NetworkOptions, SourceServer {
  /** The protocol to negotiate over TLS; by default none. */
  readonly alpnProtocol?: string;
}

export interface Dialled {
  readonly socket: Socket;
  /** Closes the connection, including the socket below TLS. */
  readonly destroy: () => void;
}

/** Connects to an allowed host. @throws the connection error, or the signal's reason */
export async function dial(options: DialOptions, signal: AbortSignal): Promise<Dialled> {
  signal.throwIfAborted();
  const { host, port, tls, share } = options;
  if (tls?.ca !== undefined) await share?.next(signal); // a bundle takes some 20 ms to parse
  const raw = new GuardedSocket(options);
  using _aborted = onAbort(signal, () => raw.destroy(signal.reason));
  const socket = tls ? startTls(raw, options, tls) : raw;
  const destroy = () => {
    socket.destroy();
    raw.destroy();
  };
  const ready = once(socket, tls ? 'secureConnect' : 'connect');
  raw.dial(port, host);
  try {
    await ready;
  } catch (error) {
    destroy();
    throw signal.aborted ? signal.reason : error;
  }
  raw.setNoDelay(true).setKeepAlive(true);
  return { socket, destroy };
}

/** Starts TLS on a socket; errors of the socket become errors of the TLS socket. */
function startTls(
  raw: GuardedSocket,
  { host, alpnProtocol }: DialOptions,
  { isUnverified, ...files }: SourceTls,
): Socket {
  const socket = connectTls({
    ...(alpnProtocol !== undefined && { ALPNProtocols: [alpnProtocol] }),
    ...{ socket: raw, host, servername: isIP(host) === 0 ? host : '', rejectUnauthorized: !isUnverified },
    ciphers: CIPHERS_WITHOUT_DHE,
    ...Object.fromEntries(Object.entries(files).filter(([, text]) => text !== undefined)),
  });
  raw.limitHandshake(socket);
  raw.on('error', (error) => socket.destroy(error));
  socket.on('error', () => {}); // errors of the socket below are emitted twice; dial handles the first
  return socket;
}
