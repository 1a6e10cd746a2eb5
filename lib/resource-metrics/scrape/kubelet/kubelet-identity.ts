import tls from 'node:tls';
import type { ScrapeTarget } from '#lib/resource-metrics/nodes/node-address.ts';

/** The code of a {@link KubeletIdentityError}, beside those that Node has for certificates. */
export const CERT_OF_ANOTHER_NAME = 'CERT_OF_ANOTHER_NAME';

/**
 * Whether a certificate, whose chain is good, is that of the kubelet that was dialled: it names the host, or else the
 * node or another of its addresses, for kubelets are dialled by address and their certificates often name only the
 * node.
 *
 * @returns why it is not, with the names that it has and what to do
 */
export function kubeletIdentityError(
  certificate: tls.PeerCertificate,
  { host, knownAs = [] }: Pick<ScrapeTarget, 'host' | 'knownAs'>,
): Error | undefined {
  const names = [host, ...knownAs.filter((name) => name !== host)];
  if (names.some((name) => tls.checkServerIdentity(name, certificate) === undefined)) return undefined;
  return new KubeletIdentityError(
    `its certificate is not for ${names.join(', ')}: it is for ${namesOf(certificate)}; give the kubelet a ` +
      'certificate that names its node (serverTLSBootstrap: true in its configuration), or ask it by a name that ' +
      'the certificate has (--kubelet-preferred-address-types)',
  );
}

/** A good certificate, but of somebody else. */
class KubeletIdentityError extends Error {
  readonly code = CERT_OF_ANOTHER_NAME;
}

function namesOf({ subject, subjectaltname }: tls.PeerCertificate): string {
  if (subjectaltname) return subjectaltname.replaceAll(/(DNS|IP Address):/g, '');
  const names = [subject?.CN].flat().filter((name) => name !== undefined);
  return names.length > 0 ? names.join(', ') : 'nobody';
}
