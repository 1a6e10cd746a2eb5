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

/** Takes who shows a certificate for whom it is made out to: the common name is the user, organizations are groups. */
export function byClientCertificate(
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

/** A connection's certificate is read once, not with every request; `undefined` where it has no name. */
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

/** The organizations of a certificate's subject. */
export function organizationsOf(certificate: X509Certificate): readonly string[] {
  return subjectValues(certificate, 'O');
}

/** A connection's certificate is asked for its subject with every request, and reading it takes long. */
const subjectOf = memoizeByObject(
  (certificate: X509Certificate): object => certificate.toLegacyObject().subject ?? {},
);

function subjectValues(certificate: X509Certificate, attribute: string): readonly string[] {
  const subject = subjectOf(certificate);
  const values: unknown = propertyOf(subject, attribute) ?? [];
  return [values].flat().filter((value) => typeof value === 'string');
}

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
      const error = toError(cause);
      return { error, fromMs: nowMs, toMs: nowMs + ERROR_KEPT_MS };
    }
  }
}

/**
 * The certificates shown on a connection; `undefined` where there are none. They are read once: from the second time
 * on, Node gives the first of them alone.
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
