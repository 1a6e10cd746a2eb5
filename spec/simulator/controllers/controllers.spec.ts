import { expect } from 'chai';
import type { KubernetesObject } from '#simulator/objects/kubernetes-object.ts';
import type { PlainClient } from '#spec/support/plain-client.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const STATEFUL_SETS = '/apis/apps/v1/namespaces/default/statefulsets';
const JOBS = '/apis/batch/v1/namespaces/default/jobs';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

function workload(name: string, spec: object = {}, image = 'x') {
  return {
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image }] } },
      ...spec,
    },
  };
}

describe('Controllers', () => {
  let server: SimulatedApiServer;
  let client: PlainClient;

  beforeEach(async () => {
    server = await startSimulatedApiServer({ scenario: { nodes: 2, podsPerNode: 0, podStartupSeconds: 5 } });
    ({ client } = server);
  });
  afterEach(() => server[Symbol.asyncDispose]());

  const settled = (durationMs = 0) => server.clock.advance(durationMs);
  const pods = () => server.cluster.store.list('pods').items;
  const names = (objects: readonly KubernetesObject[]) => objects.map(({ metadata }) => metadata.name);
  const images = () =>
    pods().map(({ spec }) => (spec as { containers: { image: string }[] }).containers[0]?.image);
  const statusOf = async (path: string) => (await client.get(path)).body.status;

  describe('of Deployments', () => {
    it('make pods, which become ready after a while', async () => {
      await client.post(DEPLOYMENTS, workload('web', { replicas: 3 }));
      await settled();
      expect(pods()).to.have.length(3);
      expect(await statusOf(`${DEPLOYMENTS}/web`)).to.include({
        replicas: 3,
        readyReplicas: 0,
        unavailableReplicas: 3,
      });
      await settled(5_000);
      expect(await statusOf(`${DEPLOYMENTS}/web`)).to.include({
        replicas: 3,
        readyReplicas: 3,
        availableReplicas: 3,
        updatedReplicas: 3,
        observedGeneration: 1,
      });
      expect([...server.cluster.truth.pods()]).to.have.length(3);
    });

    it('scale to the replicas of their subresource scale', async () => {
      await client.post(DEPLOYMENTS, workload('web', { replicas: 1 }));
      await settled(5_000);
      const [first] = names(pods());
      await client.patch(`${DEPLOYMENTS}/web/scale`, 'merge', { spec: { replicas: 4 } });
      await settled(5_000);
      expect(await statusOf(`${DEPLOYMENTS}/web`)).to.include({ readyReplicas: 4, observedGeneration: 2 });
      await client.patch(`${DEPLOYMENTS}/web/scale`, 'merge', { spec: { replicas: 1 } });
      await settled();
      expect(names(pods())).to.deep.equal([first]);
      await client.patch(`${DEPLOYMENTS}/web/scale`, 'merge', { spec: { replicas: 0 } });
      await settled();
      expect((await client.get(`${DEPLOYMENTS}/web/scale`)).body.status).to.deep.equal({
        replicas: 0,
        selector: 'app=web',
      });
    });

    it('replace all pods at once by those of another template', async () => {
      await client.post(DEPLOYMENTS, workload('web', { replicas: 4 }));
      await settled(5_000);
      await client.patch(`${DEPLOYMENTS}/web`, 'strategic', {
        spec: { template: { spec: { containers: [{ name: 'main', image: 'y' }] } } },
      });
      await settled();
      expect(images()).to.deep.equal(['y', 'y', 'y', 'y']);
      await settled(5_000);
      expect(await statusOf(`${DEPLOYMENTS}/web`)).to.include({
        replicas: 4,
        updatedReplicas: 4,
        availableReplicas: 4,
      });
      expect(server.cluster.store.list('replicasets.apps').items).to.have.length(2);
    });

    it('replace a deleted pod', async () => {
      await client.post(DEPLOYMENTS, workload('web', { replicas: 2 }));
      await settled(5_000);
      const [lost, retained] = names(pods());
      await client.delete(`/api/v1/namespaces/default/pods/${lost}`);
      await settled(5_000);
      expect(names(pods())).to.include(retained).and.not.to.include(lost);
      expect(await statusOf(`${DEPLOYMENTS}/web`)).to.include({ readyReplicas: 2 });
    });
  });

  describe('of StatefulSets', () => {
    it('make numbered pods, delete those with the highest numbers, and replace those of an earlier template', async () => {
      await client.post(STATEFUL_SETS, workload('db', { replicas: 3 }));
      await settled(5_000);
      expect(names(pods())).to.deep.equal(['db-0', 'db-1', 'db-2']);
      await client.patch(`${STATEFUL_SETS}/db/scale`, 'merge', { spec: { replicas: 1 } });
      await settled();
      expect(names(pods())).to.deep.equal(['db-0']);
      expect(await statusOf(`${STATEFUL_SETS}/db`)).to.include({ replicas: 1, readyReplicas: 1 });
      await client.patch(`${STATEFUL_SETS}/db`, 'strategic', {
        spec: { template: { spec: { containers: [{ name: 'main', image: 'y' }] } } },
      });
      await settled();
      expect(images()).to.deep.equal(['y']);
    });
  });

  describe('of Jobs', () => {
    const end = async (phase: 'Succeeded' | 'Failed') => {
      const running = pods().find(({ status }) => (status as { phase: string }).phase === 'Running');
      const path = `/api/v1/namespaces/default/pods/${running?.metadata.name}/status`;
      await client.patch(path, 'merge', { status: { phase } });
      await settled(5_000);
    };

    it('run pods until enough have succeeded', async () => {
      const { template } = workload('work').spec;
      await client.post(JOBS, {
        metadata: { name: 'work' },
        spec: { completions: 3, parallelism: 2, template },
      });
      await settled(5_000);
      expect(await statusOf(`${JOBS}/work`)).to.include({ active: 2, ready: 2 });
      for (let done = 0; done < 3; done++) await end('Succeeded');
      const status = await statusOf(`${JOBS}/work`);
      expect(status).to.include({ succeeded: 3 }).and.not.to.have.property('active');
      expect(status.conditions[0]).to.include({ type: 'Complete', status: 'True' });
    });

    it('fail when more pods have failed than backoffLimit', async () => {
      await client.post(JOBS, {
        metadata: { name: 'work' },
        spec: { backoffLimit: 1, template: workload('work').spec.template },
      });
      await settled(5_000);
      for (let failed = 0; failed < 2; failed++) await end('Failed');
      expect((await statusOf(`${JOBS}/work`)).conditions[0]).to.include({
        type: 'Failed',
        reason: 'BackoffLimitExceeded',
      });
      expect(pods()).to.have.length(2);
    });
  });

  describe('of owners and namespaces', () => {
    const owned = (name: string, owner: KubernetesObject) => ({
      metadata: {
        name,
        ownerReferences: [
          {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            name: owner.metadata.name,
            uid: owner.metadata.uid,
            blockOwnerDeletion: true,
          },
        ],
      },
    });

    it("delete objects whose owner is deleted, including a Deployment's pods", async () => {
      await client.post(DEPLOYMENTS, workload('web', { replicas: 2 }));
      await settled(5_000);
      await client.delete(`${DEPLOYMENTS}/web`);
      await settled();
      expect(pods()).to.deep.equal([]);
      expect(server.cluster.store.list('replicasets.apps').items).to.deep.equal([]);
    });

    it('delete objects whose owner never existed', async () => {
      await client.post(
        CONFIG_MAPS,
        owned('child', { metadata: { name: 'nobody', uid: 'x' } } as KubernetesObject),
      );
      await settled();
      expect((await client.get(`${CONFIG_MAPS}/child`)).status).to.equal(404);
    });

    it('delete the objects of a namespace with it', async () => {
      await client.post('/api/v1/namespaces', { metadata: { name: 'shop' } });
      await client.post('/api/v1/namespaces/shop/secrets', { metadata: { name: 'gone' } });
      await client.delete('/api/v1/namespaces/shop');
      await settled();
      for (const path of ['/api/v1/namespaces/shop/secrets/gone', '/api/v1/namespaces/shop'])
        expect((await client.get(path)).status, path).to.equal(404);
    });
  });
});
