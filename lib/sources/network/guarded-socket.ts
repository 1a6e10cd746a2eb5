import { once } from 'node:events';
import { isIP, type LookupFunction, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { onAbort } from '#lib/time/abort-signal.ts';
import { createAllowedLookup, type NetworkOptions } from './allowed-hosts.ts';
import { CIPHERS_WITHOUT_DHE, type SourceTls } from './tls.ts';

/** How much a server may send. */
interface ReceiveLimits {
  readonly bytes: number;
  /** As its client counts them, by {@link GuardedSocket.countMessage}: a message of a few bytes takes some microseconds. */
  readonly messages: number;
}

/** For one statement, the result of which has at most 1,001 rows and 4,096 columns. */
const STATEMENT_LIMITS: ReceiveLimits = { bytes: 4 * 1024 * 1024, messages: 8_192 };
/** While there is no statement: notices, and why the server ends. */
export const IDLE_LIMITS: ReceiveLimits = { bytes: 64 * 1024, messages: 256 };
/** How often it is looked how much has come. */
const CHECK_INTERVAL_MS = 50;

/** A bound on what comes over a connection, which is looked after until it is disposed of. */
interface ResponseLimit extends Disposable {
  /** Looks at once. @throws an Error when more has come than may: a fast peer is done between two looks */
  check(): void;
}

/** A connection that is only ever made to an address that may be asked, and bounds what comes for a statement. */
export class GuardedSocket extends Socket {
  readonly #network: NetworkOptions;
  #failure: Error | undefined;
  #maxMessages = STATEMENT_LIMITS.messages;
  #messageCount = 0;

  constructor(network: NetworkOptions) {
    super();
    this.#network = network;
  }

  /** Why we broke it off ourselves, whatever its user makes of that. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Begins to connect; a host that must not be asked is an error of the socket. */
  dial(port: number, host: string): this {
    const { allowedHosts } = this.#network;
    if (isIP(host) === 0) return super.connect({ port, host, lookup: createAllowedLookup(this.#network) });
    if (!allowedHosts.allows(host, host)) return this.destroy(allowedHosts.refusal(host, [host]));
    // A certificate is verified for what was dialled where TLS has no name of its own for it, as mysql2 has none for an
    // address. Node remembers that of a name alone, so the address is dialled as a fully qualified one, and is what it resolves to.
    return super.connect({ port, host: `${host}.`, lookup: createFixedLookup(host) });
  }

  /** Breaks the connection off for what came over it. */
  fail(why: Error): void {
    this.#failure ??= why;
    this.destroy(this.#failure);
  }

  /** Counts a message of the server, and breaks the connection when there are more than the latest bound allows. */
  countMessage(): void {
    if (++this.#messageCount > this.#maxMessages)
      this.fail(new Error(`the response has more than ${this.#maxMessages} messages`));
  }

  /** Breaks the connection, until disposed of, when the server sends more than the limits; by default those of one statement. */
  limitResponse({ bytes, messages }: ReceiveLimits = STATEMENT_LIMITS): ResponseLimit {
    const before = this.bytesRead;
    this.#maxMessages = messages;
    this.#messageCount = 0;
    const look = () => {
      if (this.bytesRead - before <= bytes) return;
      this.fail(new Error(`the response is longer than ${bytes} bytes`));
    };
    const timer = setInterval(look, CHECK_INTERVAL_MS);
    return {
      check: () => {
        look();
        if (this.#failure) throw this.#failure;
      },
      [Symbol.dispose]: () => clearInterval(timer),
    };
  }
}

/** Resolves to one address without a query. */
function createFixedLookup(address: string): LookupFunction {
  const family = isIP(address);
  return (_, { all }, callback) =>
    queueMicrotask(() => (all ? callback(null, [{ address, family }]) : callback(null, address, family)));
}

/** Whom to dial. */
export interface DialOptions extends NetworkOptions {
  readonly host: string;
  readonly port: number;
  /** `undefined` for connections that are not encrypted. */
  readonly tls: SourceTls | undefined;
}

/** A connection, encrypted or not. */
export interface Dialled {
  readonly socket: Socket;
  /** Breaks it off. */
  readonly destroy: () => void;
}

/** Connects to a host that may be asked. @throws when it cannot, or the signal's reason */
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

/** TLS of Node takes over what it is given, and says in an error of its own what broke it. */
function startTls(raw: Socket, host: string, { isUnverified, ...files }: SourceTls): Socket {
  const socket = connectTls({
    ...{ socket: raw, host, servername: isIP(host) === 0 ? host : '', rejectUnauthorized: !isUnverified },
    ciphers: CIPHERS_WITHOUT_DHE,
    ...Object.fromEntries(Object.entries(files).filter(([, text]) => text !== undefined)),
  });
  raw.on('error', (error) => socket.destroy(error));
  socket.on('error', () => {}); // that of the connection below comes up twice, and dialling waits for the first
  return socket;
}

/** How connections to sources are made. */
export interface ConnectionOptions extends NetworkOptions {
  readonly connectTimeoutMs: number;
}
