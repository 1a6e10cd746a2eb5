import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { onAbort } from '#lib/time/abort-signal.ts';
import type { NetworkOptions } from '../network/allowed-hosts.ts';
import { GuardedSocket } from './guarded-socket.ts';

/** How a connection is encrypted. */
export interface SourceTls {
  /** PEM; by default the system's authorities are trusted. */
  readonly ca?: string | undefined;
  /** PEM of a client certificate and its key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Takes any certificate of the server: its user has asked for that. */
  readonly isUnverified: boolean;
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
  const socket = tls ? secured(raw, host, tls) : raw;
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
function secured(raw: Socket, host: string, { isUnverified, ...files }: SourceTls): Socket {
  const socket = connectTls({
    ...{ socket: raw, host, servername: isIP(host) === 0 ? host : '', rejectUnauthorized: !isUnverified },
    ...Object.fromEntries(Object.entries(files).filter(([, text]) => text !== undefined)),
  });
  raw.on('error', (error) => socket.destroy(error));
  return socket;
}
