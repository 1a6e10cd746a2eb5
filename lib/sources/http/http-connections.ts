import net from 'node:net';
import type { buildConnector as ConnectorOf, Dispatcher } from 'undici';
import { buildConnector, Client } from '#lib/kubernetes/client/undici-parts.ts';
import { allowedLookup, type NetworkOptions } from '../network/allowed-hosts.ts';
import { boundReads, type WireBound } from './bounded-reads.ts';
import type { HttpCredentials } from './http-credentials.ts';
import { HttpPool } from './http-pool.ts';

/** How connections to sources are made. */
export interface ConnectionOptions extends NetworkOptions {
  readonly connectTimeoutMs: number;
}

const KEEP_ALIVE_MS = 60_000;

/** A pool of kept-alive connections that are only ever made to addresses that may be asked. */
export function connectionPool(credentials: HttpCredentials, options: ConnectionOptions): HttpPool {
  const { allowedHosts, connectTimeoutMs } = options;
  const { ca, cert, key, isUnverified = false } = credentials;
  const dial = buildConnector({
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert, key }),
    ...(isUnverified ? { rejectUnauthorized: false } : {}),
    allowH2: false,
    timeout: connectTimeoutMs,
    lookup: allowedLookup(options),
  }) as (...call: Parameters<ConnectorOf.connector>) => void;
  const connect = (wire: WireBound, [target, callback]: Parameters<ConnectorOf.connector>) => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    // An address is dialled as it is, without asking for it.
    if (net.isIP(host) !== 0 && !allowedHosts.allows(host, host))
      callback(allowedHosts.refusal(host, [host]), null);
    else
      dial(target, (...[error, socket]) => {
        if (error) callback(error, null);
        else if (socket) callback(null, boundReads(socket, wire));
      });
  };
  return new HttpPool((origin) => {
    const wire: WireBound = { leftBytes: 0 };
    const client = new Client(origin, {
      allowH2: false,
      headersTimeout: 0, // the deadline of the request bounds both, on its own clock
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      connect: (...call) => connect(wire, call),
    });
    WIRES.set(client, wire);
    return client;
  });
}

const WIRES = new WeakMap<Dispatcher, WireBound>();
/** Of headers and what else stands around a body. */
const FRAME_BYTES = 64 * 1024;

/** Has a connection of such a pool take a response of so many bytes, and as much again of what frames it. */
export function expectResponse(connection: Dispatcher, maxBytes: number): void {
  const wire = WIRES.get(connection);
  if (wire) wire.leftBytes = 2 * maxBytes + FRAME_BYTES;
}
