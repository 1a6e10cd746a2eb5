import { join } from 'node:path';
import { customMetricsGroup } from '#lib/metrics-adapter/api/custom-metrics-group.ts';
import { externalMetricsGroup } from '#lib/metrics-adapter/api/external-metrics-group.ts';
import { systemClock } from '#lib/time/system-clock.ts';
import { startAccessCluster } from '#spec/support/access-cluster.ts';
import { requestHttp1, requestHttp2 } from '#spec/support/api-request.ts';
import { type ComparableResponse, comparable } from '../comparable-response.ts';
import { recordedUsers } from '../recorded-users.ts';
import { type Recording, readRecordings } from '../recording.ts';
import { readDataset } from './dataset.ts';

/** The names of recordings that went through kube-apiserver, which would respond to some of them by itself. */
export function skippedRecordings(folder: string): readonly string[] {
  return readRecordings(join(folder, 'requests'))
    .map(({ name }) => name)
    .filter(isAggregated);
}

/** A recording, and what is responded to its request here. */
export interface Replayed {
  readonly recording: Recording;
  readonly ours: ComparableResponse;
  readonly theirs: ComparableResponse;
}

const ADDRESS = { bindAddress: '127.53.44.44', port: 6543 };
const NARROW = 'system:serviceaccount:shop:narrow';
const GROUPS = ['custom.metrics.k8s.io', 'external.metrics.k8s.io'];

/**
 * Serves a folder's `dataset.json` and sends its `requests/` once more.
 *
 * @returns what came back, without the requests that went through kube-apiserver, which are none of this server's
 */
export async function replayMetrics(folder: string): Promise<readonly Replayed[]> {
  const { custom, external } = readDataset(join(folder, 'dataset.json'));
  await using server = await startAccessCluster([], {
    groups: [customMetricsGroup(custom), externalMetricsGroup(external)],
    ...ADDRESS,
    clock: systemClock,
  });
  const { rbac } = server.cluster;
  rbac.grant({
    name: 'viewer-values',
    role: 'viewer-values',
    users: ['viewer'],
    rules: [{ verbs: ['get', 'list'], apiGroups: GROUPS, resources: ['*'] }],
  });
  const grantNarrow = (verb: string, apiGroup: string, resource: string) =>
    rbac.grant({
      ...{ name: `narrow-${verb}`, namespace: 'shop', role: 'narrow', users: [NARROW] },
      rules: [{ verbs: [verb], apiGroups: [apiGroup], resources: [resource] }],
    });
  grantNarrow('get', 'custom.metrics.k8s.io', 'pods/http_requests');
  grantNarrow('list', 'external.metrics.k8s.io', 'queue_depth');
  const recorded = recordedUsers(server.cluster);
  // Whose token it was is told by the front proxy here: the cluster has no such service account.
  const headers = { 'x-remote-user': NARROW, 'x-remote-group': 'system:serviceaccounts' };
  const users = new Map([...recorded, ['token', { ...recorded.get('proxy'), headers }]]);
  const replayed: Replayed[] = [];
  for (const recording of readRecordings(join(folder, 'requests'))) {
    if (isAggregated(recording.name)) continue;
    const { method, path, headers: sent, body, isHttp2, user } = recording;
    const { headers: shown, ...certificate } = users.get(user) ?? {};
    const response = await (isHttp2 ? requestHttp2 : requestHttp1)({
      ...certificate,
      ...{ host: ADDRESS.bindAddress, port: ADDRESS.port, path, method },
      headers: { ...sent, ...shown },
      ...(body !== undefined && { body }),
    });
    replayed.push({ recording, ours: comparable(response), theirs: comparable(recording.response) });
  }
  return replayed;
}

function isAggregated(name: string): boolean {
  return name.startsWith('agg-');
}
