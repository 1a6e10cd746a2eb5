import type { SimulatedCluster } from '#simulator/simulated-cluster.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';

/** Credentials of a recorded user: a certificate with its key, as PEM, or headers. */
export interface ShownCredentials {
  readonly cert?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The users of the recordings, with credentials of a simulated cluster in place of the recorded one's. */
export function recordedUsers(cluster: SimulatedCluster): ReadonlyMap<string, ShownCredentials> {
  const { pki, metricsServerToken } = cluster;
  const issue = (commonName: string) =>
    pki.clientCa.issue({ subject: { commonName }, usages: ['clientAuth'] });
  const certificate = ({ certificatePem: cert, privateKeyPem: key }: ReturnType<typeof issue>) => ({
    cert,
    key,
  });
  const token = (text: string) => ({ headers: { authorization: `Bearer ${text}` } });
  cluster.rbac.grant({
    name: 'viewer-metrics',
    role: 'system:aggregated-metrics-reader',
    users: ['viewer'],
    rules: [{ verbs: ['get', 'list', 'watch'], apiGroups: ['metrics.k8s.io'], resources: ['nodes', 'pods'] }],
  });
  return new Map<string, ShownCredentials>([
    ['anon', {}],
    ['admin', certificate(pki.admin)],
    ['viewer', certificate(issue('viewer'))],
    ['alice', certificate(issue('alice'))],
    ['selfca', new TestAuthority('self').leaf()],
    ['proxy', certificate(pki.frontProxy)],
    ['token', token(metricsServerToken)],
    ['badtoken', token('not.a.token')],
  ]);
}
