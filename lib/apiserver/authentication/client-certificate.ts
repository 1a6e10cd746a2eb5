import type { X509Certificate } from 'node:crypto';
import type { AuthenticationConfig } from '#lib/apiserver/access/authentication-config.ts';
import type { AuthenticationMethod } from '#lib/apiserver/access/authenticator.ts';
import { commonNameOf, organizationsOf } from '#lib/apiserver/certificates/certificate-subject.ts';
import { peerChainOf } from '#lib/apiserver/certificates/peer-chain.ts';
import type { User } from '#lib/apiserver/http/user.ts';
import type { AccessTelemetry } from '#lib/apiserver/reviews/access-telemetry.ts';
import type { Clock } from '#lib/time/clock.ts';

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

/** By certificate: a connection's is read once, not with every request. */
const USERS = new WeakMap<X509Certificate, User>();

/** `undefined` where it names nobody. */
function userOf(certificate: X509Certificate): User | undefined {
  let user = USERS.get(certificate);
  if (!user) {
    user = readUser(certificate);
    if (user) USERS.set(certificate, user);
  }
  return user;
}

function readUser(certificate: X509Certificate): User | undefined {
  const name = commonNameOf(certificate);
  if (name === '') return undefined;
  const fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase();
  const extra = { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] };
  return { name, uid: '', groups: organizationsOf(certificate), extra };
}
