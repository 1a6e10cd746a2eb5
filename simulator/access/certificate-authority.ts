import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type CertificateRequest, issueCertificate, type Subject } from './certificate.ts';

const DAY_MS = 86_400_000;

/** A certificate and its private key, as PEM. */
export interface KeyedCertificate {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/** A request for a certificate; a key is generated unless one is given. */
export type LeafRequest = Omit<CertificateRequest, 'publicKey' | 'validity' | 'isCa'> & {
  readonly keys?: KeyPair;
  readonly validity?: CertificateRequest['validity'];
};

/** An EC P-256 key pair. */
export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Signs certificates; its own certificate is self-signed. */
export class CertificateAuthority {
  readonly certificatePem: string;
  readonly #keys = generateKeys();
  readonly #subject: Subject;

  constructor(commonName: string) {
    this.#subject = { commonName };
    this.certificatePem = issueCertificate(
      { subject: this.#subject, publicKey: this.#keys.publicKey, validity: decadeAround(), isCa: true },
      { subject: this.#subject, ...this.#keys },
    );
  }

  issue({ keys = generateKeys(), validity = decadeAround(), ...request }: LeafRequest): KeyedCertificate {
    const certificatePem = issueCertificate(
      { ...request, validity, publicKey: keys.publicKey },
      { subject: this.#subject, ...this.#keys },
    );
    return { certificatePem, privateKeyPem: privateKeyPem(keys) };
  }
}

/** Generates an EC P-256 key pair, the fastest kind to generate, sign and shake hands with. */
export function generateKeys(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

/** The private key in PKCS #8. */
export function privateKeyPem({ privateKey }: KeyPair): string {
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Ten years from yesterday, by the machine's clock, because the TLS library of the client validates it. */
export function decadeAround(): CertificateRequest['validity'] {
  return { notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + 3650 * DAY_MS) };
}

/** The authorities of one cluster, separate as in a careful installation. */
export interface ClusterPki {
  /** Signs the API server's serving certificate. */
  readonly serverCa: CertificateAuthority;
  /** Signs client certificates of users, and of the API server at kubelets. */
  readonly clientCa: CertificateAuthority;
  /** Signs the client certificate of the aggregator at aggregated servers. */
  readonly frontProxyCa: CertificateAuthority;
  /** Signs the serving certificates of kubelets. */
  readonly kubeletCa: CertificateAuthority;
  readonly apiServer: KeyedCertificate;
  readonly frontProxy: KeyedCertificate;
  readonly admin: KeyedCertificate;
}

/** The common name of the aggregator's client certificate. */
export const FRONT_PROXY_NAME = 'front-proxy-client';

/** @param addresses the IP addresses on which the API server listens */
export function createClusterPki(addresses: readonly string[]): ClusterPki {
  const serverCa = new CertificateAuthority('kubernetes-ca');
  const clientCa = new CertificateAuthority('kubernetes-client-ca');
  const frontProxyCa = new CertificateAuthority('front-proxy-ca');
  return {
    serverCa,
    clientCa,
    frontProxyCa,
    kubeletCa: new CertificateAuthority('kubelet-ca'),
    apiServer: serverCa.issue({
      subject: { commonName: 'kube-apiserver' },
      usages: ['serverAuth'],
      names: [
        ...addresses,
        'localhost',
        'kubernetes',
        'kubernetes.default',
        'kubernetes.default.svc',
        'kubernetes.default.svc.cluster.local',
      ],
    }),
    frontProxy: frontProxyCa.issue({
      subject: { commonName: FRONT_PROXY_NAME },
      usages: ['clientAuth'],
    }),
    admin: clientCa.issue({
      subject: { commonName: 'kubernetes-admin', organizations: ['system:masters'] },
      usages: ['clientAuth'],
    }),
  };
}
