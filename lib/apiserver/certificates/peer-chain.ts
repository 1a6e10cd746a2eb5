import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { CaBundle } from './ca-bundle.ts';
import { type ChainValidity, CLIENT_AUTHENTICATION, verifyChain } from './verify-chain.ts';

/** More certificates of one peer are not looked at. */
const MAX_CERTIFICATES = 10;

/** For so long a chain that is not good is not looked at again: a user's is tried for the front proxy's with each request. */
const ERROR_KEPT_MS = 10_000;

/** Why a chain is not good, and until when it is not looked at again. */
interface ChainError {
  readonly error: Error;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * The certificates that a client has shown on its connection.
 *
 * They are verified again whenever the authorities are others than last time, and their time is checked at every
 * request: a connection outlives both.
 */
export class PeerChain {
  readonly leaf: X509Certificate;
  readonly #certificates: readonly X509Certificate[];
  readonly #verified = new WeakMap<CaBundle, ChainValidity | ChainError>();

  constructor(certificates: readonly [X509Certificate, ...X509Certificate[]]) {
    this.leaf = certificates[0];
    this.#certificates = certificates;
  }

  /**
   * Why no authority of the bundle vouches for the client at this moment; `undefined` where one does. It is given, not
   * thrown: throwing one takes longer than all the rest that a request needs of its client's certificate.
   */
  errorBy(authorities: CaBundle, nowMs: number): Error | undefined {
    let known = this.#verified.get(authorities);
    if (!known || nowMs < known.fromMs || nowMs > known.toMs) {
      known = this.#judge(authorities, nowMs);
      this.#verified.set(authorities, known);
    }
    return 'error' in known ? known.error : undefined;
  }

  #judge(authorities: CaBundle, nowMs: number): ChainValidity | ChainError {
    try {
      return verifyChain(this.#certificates, { authorities, usage: CLIENT_AUTHENTICATION, nowMs });
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      return { error, fromMs: nowMs, toMs: nowMs + ERROR_KEPT_MS };
    }
  }
}

const CHAINS = new WeakMap<object, PeerChain>();

/**
 * The certificates shown on a connection; `undefined` where there are none. They are read once: from the second time
 * on, Node gives the first of them alone.
 */
export function peerChainOf(socket: TLSSocket): PeerChain | undefined {
  const known = CHAINS.get(socket);
  if (known) return known;
  const leaf = socket.getPeerX509Certificate();
  if (!leaf) return undefined;
  const certificates: [X509Certificate, ...X509Certificate[]] = [leaf];
  let next = leaf.issuerCertificate;
  while (next && certificates.length < MAX_CERTIFICATES) {
    certificates.push(next);
    next = next.issuerCertificate;
  }
  const chain = new PeerChain(certificates);
  CHAINS.set(socket, chain);
  return chain;
}
