import { CertificateAuthority, type KeyedCertificate } from './certificate-authority.ts';

/** The authorities of one cluster, apart from one another as in a careful installation. */
export interface ClusterPki {
  /** Signs the API server's serving certificate. */
  readonly serverCa: CertificateAuthority;
  /** Signs certificates that users, and the API server before kubelets, identify themselves with. */
  readonly clientCa: CertificateAuthority;
  /** Signs the certificate that the aggregator shows to aggregated servers. */
  readonly frontProxyCa: CertificateAuthority;
  /** Signs what kubelets serve with. */
  readonly kubeletCa: CertificateAuthority;
  readonly apiServer: KeyedCertificate;
  readonly frontProxy: KeyedCertificate;
  readonly admin: KeyedCertificate;
}

/** The common name under which the aggregator presents itself. */
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
