import { issueCertificate } from '../access/certificate.ts';
import {
  type ClusterPki,
  decadeAround,
  type KeyedCertificate,
  type KeyPair,
  privateKeyPem,
} from '../access/certificate-authority.ts';

/** The kinds of serving certificates of a kubelet. */
export type CertificateKind =
  | 'valid'
  | 'name-only'
  | 'other-name'
  | 'expired'
  | 'not-yet-valid'
  | 'self-signed';

/** Issues a kubelet's serving certificate. All kubelets share one key, as generating one for each takes longer. */
export function kubeletCertificate(
  kind: CertificateKind,
  node: { readonly name: string; readonly address: string },
  { pki, keys }: { readonly pki: ClusterPki; readonly keys: KeyPair },
): KeyedCertificate {
  const subject = { commonName: `system:node:${node.name}`, organizations: ['system:nodes'] };
  const names = namesFor(kind, node);
  const usages = ['serverAuth'] as const;
  if (kind === 'self-signed') {
    const request = { subject, usages, names, publicKey: keys.publicKey, validity: decadeAround() };
    return {
      certificatePem: issueCertificate(request, { subject, ...keys }),
      privateKeyPem: privateKeyPem(keys),
    };
  }
  return pki.kubeletCa.issue({ subject, usages, names, keys, ...validityOf(kind) });
}

function namesFor(
  kind: CertificateKind,
  { name, address }: { readonly name: string; readonly address: string },
): readonly string[] {
  if (kind === 'other-name') return ['another-node'];
  return kind === 'name-only' ? [name] : [name, address];
}

function validityOf(kind: CertificateKind) {
  if (kind === 'expired') return { validity: decadeFrom(-1) };
  return kind === 'not-yet-valid' ? { validity: decadeFrom(1) } : {};
}

/** @param decades number of decades after the current one */
function decadeFrom(decades: number) {
  const { notBefore, notAfter } = decadeAround();
  const shiftMs = decades * (notAfter.getTime() - notBefore.getTime());
  return {
    notBefore: new Date(notBefore.getTime() + shiftMs),
    notAfter: new Date(notAfter.getTime() + shiftMs),
  };
}
