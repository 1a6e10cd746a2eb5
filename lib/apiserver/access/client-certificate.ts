import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { User } from '#lib/apiserver/http/api-context.ts';
import { memoizeByObject } from '#lib/cache/memoize.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { toError } from '#lib/telemetry/error-text.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { AccessTelemetry } from './access-telemetry.ts';
import type { AuthenticationConfig } from './authentication-config.ts';
import type { AuthenticationMethod } from './authenticator.ts';
import {
  type CaBundle,
  type ChainValidity,
  CLIENT_AUTHENTICATION,
  verifyChain,
} from './certificate-chain.ts';

const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

/** Authenticates the holder of a client certificate: the common name is the user, organizations are groups. */
export function x509Authenticator(
  config: () => AuthenticationConfig,
  { clock, telemetry }: { readonly clock: Clock; readonly telemetry: AccessTelemetry },
): AuthenticationMethod {
  return ({ socket }) => {
    const chain = peerChainOf(socket);
    const { clientAuthorities } = config();
    if (!chain || !clientAuthorities) return undefined;
    telemetry.recordCertificate(chain.leaf.validToDate.getTime() - clock.nowMs());
    return chain.errorBy(clientAuthorities, clock.nowMs()) ?? userOf(chain.leaf);
  };
}

/** Read once for each connection, not with every request; `undefined` where the certificate has no name. */
const userOf = memoizeByObject(readUser);

function readUser(certificate: X509Certificate): User | undefined {
  const name = commonNameOf(certificate);
  if (name === '') return undefined;
  const fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase();
  const extra = { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] };
  return { name, uid: '', groups: organizationsOf(certificate), extra };
}

/** The common name of a certificate's subject; the last one where there are several, as in Go. */
export function commonNameOf(certificate: X509Certificate): string {
  return subjectValues(certificate, 'CN').at(-1) ?? '';
}

export function organizationsOf(certificate: X509Certificate): readonly string[] {
  return subjectValues(certificate, 'O');
}

/** Cached: every request needs the subject, and parsing it is slow. */
const subjectOf = memoizeByObject(
  (certificate: X509Certificate): object => certificate.toLegacyObject().subject ?? {},
);

function subjectValues(certificate: X509Certificate, attribute: string): readonly string[] {
  const subject = subjectOf(certificate);
  const values: unknown = propertyOf(subject, attribute) ?? [];
  return [values].flat().filter((value) => typeof value === 'string');
}

/** Further certificates of a peer are ignored. */
const MAX_CERTIFICATES = 10;

/** How long a chain's error is cached: a user's chain is tried as the front proxy's with each request. */
const ERROR_TTL_MS = 10_000;

/** Why a chain is invalid, and until when that is cached. */
interface ChainError {
  readonly error: Error;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * The certificates that a client sent on its connection.
 *
 * They are verified again when the authorities change, and their validity is checked at every request: a connection can
 * outlive both.
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
   * Why the client's chain leads to no authority of the bundle at this moment; `undefined` where it does. Returned, not
   * thrown: throwing takes longer than all other work on a request's certificate.
   */
  errorBy(authorities: CaBundle, nowMs: number): Error | undefined {
    let validity = this.#verified.get(authorities);
    if (!validity || nowMs < validity.fromMs || nowMs > validity.toMs) {
      validity = this.#verify(authorities, nowMs);
      this.#verified.set(authorities, validity);
    }
    return 'error' in validity ? validity.error : undefined;
  }

  #verify(authorities: CaBundle, nowMs: number): ChainValidity | ChainError {
    try {
      return verifyChain(this.#certificates, { authorities, usage: CLIENT_AUTHENTICATION, nowMs });
    } catch (cause) {
      const error = toError(cause);
      return { error, fromMs: nowMs, toMs: nowMs + ERROR_TTL_MS };
    }
  }
}

/**
 * The certificates sent on a connection; `undefined` where there are none. They are read once: from the second call on,
 * Node returns the first certificate alone.
 */
export const peerChainOf = memoizeByObject((socket: TLSSocket): PeerChain | undefined => {
  const leaf = socket.getPeerX509Certificate();
  if (!leaf) return undefined;
  const certificates: [X509Certificate, ...X509Certificate[]] = [leaf];
  let next = leaf.issuerCertificate;
  while (next && certificates.length < MAX_CERTIFICATES) {
    certificates.push(next);
    next = next.issuerCertificate;
  }
  return new PeerChain(certificates);
});
