import { readFile, stat } from 'node:fs/promises';
import { expect } from 'chai';
import { startCluster } from '#simulator/simulated-cluster.ts';
import { ClusterClient } from '#spec/support/cluster-client.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('startCluster', () => {
  it('creates the nodes and pods of its scenario', async () => {
    await using cluster = await startCluster({ nodes: 2, podsPerNode: 3 }, { clock: new ManualClock() });
    expect(cluster.store.list('nodes').items.map(({ metadata }) => metadata.name)).to.deep.equal([
      'node-1',
      'node-2',
    ]);
    expect(cluster.store.list('pods').items).to.have.length(6);
  });

  it('makes the same pods under the same loads of the same seed', async () => {
    const clock = new ManualClock();
    const describe = async (seed: number) => {
      await using cluster = await startCluster({ nodes: 1, seed }, { clock });
      return [...cluster.truth.pods()].map(({ pod }) => [pod.name, pod.containers[0]?.memoryBytes(0)]);
    };
    expect(await describe(7)).to.deep.equal(await describe(7));
    expect(await describe(7)).not.to.deep.equal(await describe(8));
  });

  it('names every wrong field of a scenario', async () => {
    const wrong = { nodes: -1, colour: 'blue' } as object;
    const error = await startCluster(wrong).catch((reason: unknown) => reason);
    expect(String(error)).to.match(/^Error: Cannot use scenario: nodes: .*; it: .*"colour"/);
  });

  it('writes credentials for their owner only, and removes them at the end', async () => {
    const cluster = await startCluster({ nodes: 0 }, { clock: new ManualClock() });
    const { kubeconfig } = cluster.files;
    expect((await stat(kubeconfig)).mode & 0o777).to.equal(0o600);
    expect(JSON.parse(await readFile(kubeconfig, 'utf8')).clusters[0].cluster.server).to.equal(
      cluster.server,
    );
    await cluster[Symbol.asyncDispose]();
    expect(await stat(kubeconfig).catch((error) => error.code)).to.equal('ENOENT');
  });

  it('has the users and grants of its scenario', async () => {
    const scenario = {
      nodes: 0,
      tokens: { 'a-token': { username: 'robot', groups: ['machines'] } },
      grants: [
        {
          name: 'machines',
          role: 'node-reader',
          groups: ['machines'],
          rules: [{ verbs: ['list'], apiGroups: [''], resources: ['nodes'] }],
        },
      ],
    };
    await using cluster = await startCluster(scenario, { clock: new ManualClock() });
    const robot = new ClusterClient(cluster, { token: 'a-token' });
    expect((await robot.request('/api/v1/nodes')).status).to.equal(200);
    expect((await robot.request('/api/v1/pods')).status).to.equal(403);
  });

  it('reports which port of the API server is in use', async () => {
    await using cluster = await startCluster({ nodes: 0 });
    const { port } = cluster.apiServer.endpoint;
    const error = await startCluster({ nodes: 0 }, { port }).catch((reason) => reason);
    expect(error.message).to.equal(`Cannot serve the API at 127.0.0.1:${port}`);
  });

  it('responds to malformed paths', async () => {
    await using cluster = await startCluster({ nodes: 1 }, { clock: new ManualClock() });
    const client = new ClusterClient(cluster);
    const { address } = cluster.node('node-1').plan;
    for (const path of ['//', '/%zz', '/api/v1/nodes/%zz', '/?', '/api/v1/nodes?fieldSelector=%']) {
      expect((await client.request(path)).status, path).to.be.within(400, 404);
      const options = { ca: cluster.pki.kubeletCa.certificatePem };
      const response = await requestHttps(`https://${address}:${cluster.kubeletPort}${path}`, options);
      expect(response.status, path).to.equal(401);
    }
  });

  it('runs beside other clusters', async () => {
    const clock = new ManualClock();
    await using one = await startCluster({ nodes: 2 }, { clock });
    await using other = await startCluster({ nodes: 2 }, { clock });
    expect(one.kubeletPort).not.to.equal(other.kubeletPort);
    expect(one.server).not.to.equal(other.server);
  });
});
