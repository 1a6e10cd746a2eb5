import type { AccessTelemetry } from '#lib/apiserver/access-telemetry.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { AuthenticationConfig } from './authentication-config.ts';
import type { AuthenticationMethod } from './authentication-method.ts';
import { commonNameOf, organizationsOf } from './certificate-subject.ts';
import { peerChainOf } from './peer-chain.ts';

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
    chain.verify(clientAuthorities, clock.nowMs());
    const name = commonNameOf(chain.leaf);
    if (name === '') return undefined;
    const fingerprint = chain.leaf.fingerprint256.replaceAll(':', '').toLowerCase();
    return {
      name,
      uid: '',
      groups: organizationsOf(chain.leaf),
      extra: { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] },
    };
  };
}
