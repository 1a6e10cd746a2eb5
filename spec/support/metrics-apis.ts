import { once } from 'node:events';
import { createSecureServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { CertificateAuthority } from '#simulator/access/certificate-authority.ts';
import type { SimulatedCluster } from '#simulator/simulated-cluster.ts';

/** A server of the metrics APIs behind a simulated API server; specs set its responses. */
export interface MetricsApis extends AsyncDisposable {
  /** Responses by path without query; 404 for other paths. */
  readonly responses: Map<string, object>;
  /** Requested metrics, as paths with queries. */
  readonly requested: string[];
}

const GROUPS = [
  ['metrics.k8s.io', 'v1beta1'],
  ['custom.metrics.k8s.io', 'v1beta2'],
  ['external.metrics.k8s.io', 'v1beta1'],
] as const;

/** Starts the server and registers it with the cluster. */
export async function startMetricsApis(cluster: SimulatedCluster): Promise<MetricsApis> {
  const responses = new Map<string, object>();
  const requested: string[] = [];
  const { certificatePem: cert, privateKeyPem: key } = new CertificateAuthority('metrics').issue({
    subject: { commonName: 'metrics' },
    usages: ['serverAuth'],
  });
  const server = createSecureServer({ cert, key }, (request, response) => {
    const path = request.url;
    const [withoutQuery = ''] = path.split('?');
    const [, , group, version, ...rest] = withoutQuery.split('/');
    if (rest.length > 0) requested.push(path);
    const body =
      rest.length === 0
        ? { kind: 'APIResourceList', groupVersion: `${group}/${version}`, resources: [] }
        : responses.get(withoutQuery);
    response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body ?? { kind: 'Status', reason: 'NotFound', message: 'no such metric' }));
  }).listen(0, '127.0.0.1');
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => sessions.add(session));
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const [group, version] of GROUPS) {
    const service = { namespace: 'kube-system', name: 'metrics' };
    cluster.aggregator.register({ group, version, host: '127.0.0.1', port, service });
  }
  return {
    responses,
    requested,
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
