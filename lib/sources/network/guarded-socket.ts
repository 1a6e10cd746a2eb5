import { once } from 'node:events';
import { isIP, type LookupFunction, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { onAbort } from '#lib/time/abort-signal.ts';
import { createAllowedLookup, type NetworkOptions } from './allowed-hosts.ts';
import { CIPHERS_WITHOUT_DHE, type SourceTls } from './tls.ts';

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

/** A socket that connects only to allowed addresses, and limits the data received per statement. */
export class GuardedSocket extends Socket {
  readonly #network: NetworkOptions;
  readonly #limits: ReceiveLimits;
  #failure: Error | undefined;
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

/** Resolves any name to one address without a query. */
function createFixedLookup(address: string): LookupFunction {
  const family = isIP(address);
  return (_, { all }, callback) =>
    queueMicrotask(() => (all ? callback(null, [{ address, family }]) : callback(null, address, family)));
}

export interface DialOptions extends NetworkOptions {
  readonly host: string;
  readonly port: number;
  /** `undefined` for connections that are not encrypted. */
  readonly tls: SourceTls | undefined;
}

export interface Dialled {
  readonly socket: Socket;
  /** Closes the connection, including the socket below TLS. */
  readonly destroy: () => void;
}

/** Connects to an allowed host. @throws the connection error, or the signal's reason */
export async function dial(options: DialOptions, signal: AbortSignal): Promise<Dialled> {
  signal.throwIfAborted();
  const { host, port, tls } = options;
  const raw = new GuardedSocket(options);
  using _aborted = onAbort(signal, () => raw.destroy(signal.reason));
  const socket = tls ? startTls(raw, host, tls) : raw;
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
function startTls(raw: Socket, host: string, { isUnverified, ...files }: SourceTls): Socket {
  const socket = connectTls({
    ...{ socket: raw, host, servername: isIP(host) === 0 ? host : '', rejectUnauthorized: !isUnverified },
    ciphers: CIPHERS_WITHOUT_DHE,
    ...Object.fromEntries(Object.entries(files).filter(([, text]) => text !== undefined)),
  });
  raw.on('error', (error) => socket.destroy(error));
  socket.on('error', () => {}); // errors of the socket below are emitted twice; dial handles the first
  return socket;
}

export interface ConnectionOptions extends NetworkOptions {
  readonly connectTimeoutMs: number;
}
