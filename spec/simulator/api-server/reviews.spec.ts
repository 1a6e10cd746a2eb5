import { expect } from 'chai';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { ClusterClient } from '#spec/support/cluster-client.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('serveReview', () => {
  let cluster: SimulatedCluster;
  let client: ClusterClient;

  before(async () => {
    cluster = await startCluster({ nodes: 0 }, { clock: new ManualClock() });
    client = new ClusterClient(cluster);
    cluster.rbac.grant({
      name: 'viewer-metrics',
      role: 'system:aggregated-metrics-reader',
      users: ['viewer'],
      rules: [{ verbs: ['get', 'list'], apiGroups: ['metrics.k8s.io'], resources: ['nodes', 'pods'] }],
    });
  });
  after(() => cluster[Symbol.asyncDispose]());

  const review = async (resource: string, spec: object, as = client) => {
    const group =
      resource === 'tokenreviews' || resource === 'selfsubjectreviews' ? 'authentication' : 'authorization';
    const path = `/apis/${group}.k8s.io/v1/${resource}`;
    const { status, body } = await as.request(path, { method: 'POST', body: JSON.stringify({ spec }) });
    return { httpStatus: status, ...JSON.parse(body) };
  };

  it('authenticates a token', async () => {
    const { httpStatus, status } = await review('tokenreviews', { token: cluster.metricsServerToken });
    expect(httpStatus).to.equal(201);
    expect(status).to.deep.include({
      authenticated: true,
      audiences: ['https://kubernetes.default.svc.cluster.local'],
    });
    expect(status.user).to.deep.include({
      username: 'system:serviceaccount:kube-system:metrics-server',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
    });
  });

  it('rejects an unknown token', async () => {
    const { status } = await review('tokenreviews', { token: 'not.a.token' });
    expect(status).to.deep.equal({ user: {}, error: 'invalid bearer token' });
  });

  const listNodes = { verb: 'list', group: 'metrics.k8s.io', version: 'v1beta1', resource: 'nodes' };

  it('authorizes another user, with the reason', async () => {
    const allowed = await review('subjectaccessreviews', { resourceAttributes: listNodes, user: 'viewer' });
    expect(allowed.status).to.deep.equal({
      allowed: true,
      reason:
        'RBAC: allowed by ClusterRoleBinding "viewer-metrics" of ClusterRole "system:aggregated-metrics-reader" to User "viewer"',
    });
    const denied = await review('subjectaccessreviews', { resourceAttributes: listNodes, user: 'alice' });
    expect(denied.status).to.deep.equal({ allowed: false });
  });

  it('decides over paths', async () => {
    const nonResourceAttributes = { path: '/metrics', verb: 'get' };
    const { status } = await review('subjectaccessreviews', { nonResourceAttributes, user: 'alice' });
    expect(status).to.deep.equal({ allowed: false });
  });

  it('returns all errors of a review', async () => {
    const { httpStatus, message, details } = await review('subjectaccessreviews', {});
    expect(httpStatus).to.equal(422);
    // As recorded from a kube-apiserver.
    expect(message).to.equal(
      '.authorization.k8s.io "" is invalid: [spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: "": at least one of user or group must be specified]',
    );
    expect(details.causes.map(({ field }: { field: string }) => field)).to.deep.equal([
      'spec.resourceAttributes',
      'spec.user',
    ]);
  });

  it('authorizes the user of the request', async () => {
    const viewer = ClusterClient.asUser(cluster, 'viewer');
    const { status } = await review('selfsubjectaccessreviews', { resourceAttributes: listNodes }, viewer);
    expect(status.allowed).to.equal(true);
    const self = await review('selfsubjectreviews', {}, viewer);
    expect(self.status.userInfo.username).to.equal('viewer');
  });

  it('requires permission', async () => {
    const alice = ClusterClient.asUser(cluster, 'alice');
    expect((await review('tokenreviews', { token: 'x' }, alice)).code).to.equal(403);
  });

  it('rejects an invalid review', async () => {
    for (const [type, body, code] of [
      ['application/json', '{', 400],
      ['application/json', '{"spec":{"token":7}}', 400],
      ['application/vnd.kubernetes.protobuf', 'k8s', 415],
    ] as const) {
      const response = await client.json('/apis/authentication.k8s.io/v1/tokenreviews', {
        method: 'POST',
        headers: { 'Content-Type': type },
        body,
      });
      expect(response.code).to.equal(code);
    }
  });
});
