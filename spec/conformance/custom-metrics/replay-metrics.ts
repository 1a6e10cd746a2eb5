import { join } from 'node:path';
import { customMetricsGroup } from '#lib/metrics-adapter/api/custom-metrics-group.ts';
import { externalMetricsGroup } from '#lib/metrics-adapter/api/external-metrics-group.ts';
import { systemClock } from '#lib/time/clock.ts';
import { startAccessCluster } from '#spec/support/access-cluster.ts';
import { requestHttp1, requestHttp2 } from '#spec/support/api-request.ts';
import { ownAddress } from '#spec/support/own-address.ts';
import { type ComparableResponse, comparable } from '../comparable-response.ts';
import { recordedUsers } from '../recorded-users.ts';
import { type Recording, readRecordings } from '../recording.ts';
import { readDataset } from './dataset.ts';

/** A recording, and our response to its request. */
export interface Replayed {
  readonly recording: Recording;
  readonly ours: ComparableResponse;
  readonly theirs: ComparableResponse;
}

const ADDRESS = { bindAddress: ownAddress(), port: 6543 };
const NARROW = 'system:serviceaccount:shop:narrow';
const UNCACHED = 'no-cache, private';
const GROUPS = ['custom.metrics.k8s.io', 'external.metrics.k8s.io'];

/**
 * Serves a folder's `dataset.json` and repeats its `requests/`.
 *
 * Requests that went through kube-apiserver are sent as its aggregator sends them; headers that it added are omitted.
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
  // The front proxy's headers name the token's user: the cluster has no such service account.
  const headers = { 'x-remote-user': NARROW, 'x-remote-group': 'system:serviceaccounts' };
  const users = new Map([...recorded, ['token', { ...recorded.get('proxy'), headers }]]);
  // Requests through kube-apiserver arrived from its aggregator, which sends the user in headers.
  const reported = (name: string, group: string) => ({
    ...recorded.get('proxy'),
    headers: { 'x-remote-user': name, 'x-remote-group': group },
  });
  const aggregated = new Map([
    ['admin', reported('kubernetes-admin', 'system:masters')],
    ['alice', reported('alice', 'system:authenticated')],
    ['token', reported(NARROW, 'system:serviceaccounts')],
  ]);
  const replayed: Replayed[] = [];
  for (const recording of readRecordings(join(folder, 'requests'))) {
    const { method, path, headers: sent, body, isHttp2, user } = recording;
    const of = isAggregated(recording.name) ? aggregated : users;
    const { headers: shown, ...certificate } = of.get(user) ?? {};
    const response = await (isHttp2 ? requestHttp2 : requestHttp1)({
      ...certificate,
      ...{ host: ADDRESS.bindAddress, port: ADDRESS.port, path, method },
      headers: { ...sent, ...shown },
      ...(body !== undefined && { body }),
    });
    const theirs = comparable(recording.response);
    replayed.push({
      recording,
      ours: comparable(response),
      theirs: isAggregated(recording.name) ? asItWasSent(theirs) : theirs,
    });
  }
  return replayed;
}

function isAggregated(name: string): boolean {
  return name.startsWith('agg-');
}

/** A response before the aggregator added its headers for request classification and caching. */
function asItWasSent({ headers, ...response }: ComparableResponse): ComparableResponse {
  const sent = Object.entries(headers)
    .filter(([name]) => !name.startsWith('x-kubernetes-pf-'))
    .map(([name, value]) => [name, value === `${UNCACHED}, ${UNCACHED}` ? UNCACHED : value] as const);
  return { ...response, headers: Object.fromEntries(sent) };
}
