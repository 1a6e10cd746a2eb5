import { DEFAULT_CIPHERS } from 'node:tls';

/**
 * Ciphers for connections to sources: Node's defaults without finite-field Diffie-Hellman (DHE) of TLS 1.2. There the
 * server chooses the prime, and with 10,000 bits each connection would block the event loop for a second. Elliptic
 * curves and the groups of TLS 1.3 are cheap, and servers without them use RSA key exchange.
 */
export const CIPHERS_WITHOUT_DHE = `${DEFAULT_CIPHERS}:!DHE`;

/** Certificates for connections to sources. */
export interface SourceTls {
  /** PEM; by default the system's authorities are trusted. */
  readonly ca?: string | undefined;
  /** PEM of a client certificate and its key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Disables verification of the server certificate, as configured by the user. */
  readonly isUnverified?: boolean | undefined;
}

/** A server of a source. */
export interface SourceServer {
  readonly host: string;
  readonly port: number;
  /** `undefined` for connections that are not encrypted. */
  readonly tls: SourceTls | undefined;
}
