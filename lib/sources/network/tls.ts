import { DEFAULT_CIPHERS } from 'node:tls';

/**
 * What connections to sources offer: Node's own list without key exchange by Diffie-Hellman over numbers that the server
 * chooses. With numbers of 10,000 bits, which it may choose, each connection would take a second of the event loop. Over curves,
 * and over the numbers that TLS 1.3 has, it costs next to nothing, and servers that can do neither take the one by RSA.
 */
export const CIPHERS_WITHOUT_DHE = `${DEFAULT_CIPHERS}:!DHE`;

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

/** How connections are encrypted. */
export interface SqlTls {
  /** PEM; by default the system's authorities are trusted. */
  readonly ca?: string | undefined;
  /** PEM of a client certificate and its key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Takes any certificate of the server: its user has asked for that. */
  readonly isUnverified?: boolean | undefined;
}
