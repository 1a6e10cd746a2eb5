import type { VersionInfo } from '#lib/apiserver/discovery/version-info.ts';
import { metricsApiGroup } from '#lib/resource-metrics/api/metrics-api-group.ts';
import { type Checked, healthChecks } from '#lib/resource-metrics/metrics-server.ts';
import { systemClock } from '#lib/time/clock.ts';
import { startAccessCluster } from '#spec/support/access-cluster.ts';
import { type ApiResponse, requestHttp1, requestHttp2 } from '#spec/support/api-request.ts';
import { ownAddress } from '#spec/support/own-address.ts';
import { recordedCluster } from './recorded-cluster.ts';
import { recordedUsers } from './recorded-users.ts';
import type { Recording } from './recording.ts';

/** A server with the recorded cluster, to which recorded requests are sent. */
export interface Replay extends AsyncDisposable {
  /** @param containerOrder see {@link recordedCluster} */
  request(recording: Recording, containerOrder: number): Promise<ApiResponse>;
}

/** The reference served on this port, which discovery contains. */
const ADDRESS = { bindAddress: ownAddress(), port: 4443 };

/** State of a healthy server. */
export const HEALTHY: Checked = {
  sink: { isReady: true },
  manager: { isTimely: true },
  nodes: { isSynced: true },
  pods: { isSynced: true },
};

/** The version that the reference reported. */
const VERSION: VersionInfo = {
  major: '1',
  minor: '33',
  emulationMajor: '1',
  emulationMinor: '33',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '32',
  gitVersion: 'v0.0.0-master+$Format:%H$',
  gitCommit: '$Format:%H$',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'go1.24.4',
  compiler: 'gc',
  platform: 'linux/amd64',
};

/**
 * Starts a server in place of the recorded one, in a cluster with the recorded users.
 *
 * @param clusterAt live objects and their metrics, as from {@link recordedCluster}
 */
export async function startReplay(
  clusterAt: typeof recordedCluster = recordedCluster,
  checked: Checked = HEALTHY,
): Promise<Replay> {
  let source = clusterAt(0, 0);
  const server = await startAccessCluster([], {
    groups: [
      metricsApiGroup({
        snapshot: () => source.snapshot(),
        get nodes() {
          return source.nodes;
        },
        get pods() {
          return source.pods;
        },
      }),
    ],
    ...ADDRESS,
    version: VERSION,
    healthChecks: healthChecks(checked),
    clock: systemClock,
  });
  const users = recordedUsers(server.cluster);
  const send = ({ method, path, headers, body, isHttp2, user }: Recording) => {
    const { headers: shown, ...certificate } = users.get(user) ?? {};
    return (isHttp2 ? requestHttp2 : requestHttp1)({
      ...certificate,
      host: ADDRESS.bindAddress,
      port: ADDRESS.port,
      path,
      method,
      headers: { ...headers, ...shown },
      ...(body !== undefined && { body }),
    });
  };
  return {
    async request(recording, containerOrder) {
      source = clusterAt(Date.parse(recording.response.headers.date ?? ''), containerOrder);
      return await send(await withOurHash(recording, send));
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The request with the hash of our document, which differs from the reference's. */
async function withOurHash(
  recording: Recording,
  send: (one: Recording) => Promise<ApiResponse>,
): Promise<Recording> {
  const { 'if-none-match': sent, ...headers } = recording.headers;
  const retained = sent?.toString();
  const [path = '', query] = recording.path.split('?');
  const recordedHash = JSON.parse(recording.response.headers.etag ?? '""') as string;
  if (recordedHash === '' || !(retained ?? query)?.includes(recordedHash)) return recording;
  const { headers: ours } = await send({ ...recording, path, headers });
  const hash = JSON.parse(String(ours.etag)) as string;
  return {
    ...recording,
    path: recording.path.replace(recordedHash, hash),
    headers: {
      ...headers,
      ...(retained !== undefined && { 'if-none-match': retained.replace(recordedHash, hash) }),
    },
  };
}
