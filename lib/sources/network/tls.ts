import tls from 'node:tls';

const WITHOUT_DHE = ':!DHE';

/**
 * Has this process offer no key exchange by Diffie-Hellman over numbers that the server chooses: of 10,000 bits, as it may,
 * each connection would take a second of the event loop. Over curves, and over the numbers that TLS 1.3 knows, it costs next to nothing, and
 * servers that can do neither take the one by RSA.
 */
export function offerNoCostlyCiphers(): void {
  if (!tls.DEFAULT_CIPHERS.endsWith(WITHOUT_DHE)) tls.DEFAULT_CIPHERS += WITHOUT_DHE;
}
