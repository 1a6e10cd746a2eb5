import { expect } from 'chai';
import { ExternalControllers } from '#lib/hpa/external-controllers.ts';
import { HpaStatusWriter, hpaResourceClient } from '#lib/hpa/hpa-status-writer.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { type Hpa, readHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { systemClock } from '#lib/time/clock.ts';
import { PATHS } from '#spec/support/hpa-cluster.ts';
import { startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const { signal } = new AbortController();
const RESOURCE = {
  ...{ group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler' },
  ...{ plural: 'horizontalpodautoscalers', namespaced: true },
};

describe('HpaStatusWriter', () => {
  it('reverts no annotation that a user has set, however late it is observed', async () => {
    await using server = await startSimulatedApiServer();
    const { client, clock } = server;
    await using api = new ApiClient({ access: await server.access(), clock, userAgent: 'spec/1' });
    const hpas = hpaResourceClient(api, { served: async () => RESOURCE });
    const update = hpas.update.bind(hpas);
    const sent: KubernetesObject[] = [];
    hpas.update = async (...call) => {
      sent.push(call[0]);
      return await update(...call);
    };
    await client.post(PATHS.hpas, WEB);
    const observed = readHpa((await client.get(`${PATHS.hpas}/web`)).body, 'v2');
    const statuses = new HpaStatusWriter({
      hpas,
      others: new ExternalControllers(clock),
      clock: systemClock,
    });
    const write = (hpa: Hpa | undefined, desiredReplicas: number) =>
      hpa && statuses.write(hpa, { currentReplicas: 1, desiredReplicas }, signal);
    const annotations = { 'example.com/owner': 'shop' };
    await client.patch(`${PATHS.hpas}/web`, 'merge', { metadata: { annotations } });
    await write(observed, 1);
    await write(statuses.latest('default/web', observed), 2);
    expect((await client.get(`${PATHS.hpas}/web`)).body.status.desiredReplicas).to.equal(2);
    expect(sent.map(({ metadata }) => metadata.annotations)).to.deep.equal([{}, annotations, annotations]);
  });

  it('sets a condition of an HPA of which parts are cached, and changes nothing else', async () => {
    await using server = await startSimulatedApiServer();
    const { client, clock } = server;
    await using api = new ApiClient({ access: await server.access(), clock, userAgent: 'spec/1' });
    const hpas = hpaResourceClient(api, { served: async () => RESOURCE });
    const annotations = { 'example.com/owner': 'shop' };
    await client.post(PATHS.hpas, { ...WEB, metadata: { ...WEB.metadata, annotations } });
    await client.patch(`${PATHS.hpas}/web/status`, 'merge', {
      status: {
        currentReplicas: 3,
        desiredReplicas: 4,
        conditions: [{ type: 'AbleToScale', status: 'True' }],
      },
    });
    const { metadata, spec, statusWriters } = readHpa((await client.get(`${PATHS.hpas}/web`)).body, 'v2');
    const { name, namespace, uid } = metadata;
    const reduced: Hpa = { metadata: { name, namespace, uid }, spec, statusWriters, isReduced: true };
    const others = new ExternalControllers(clock);
    const statuses = new HpaStatusWriter({ hpas, others, clock });
    const condition = { type: 'ScalingActive', status: 'False', reason: 'TooMany', message: 'too many' };
    await statuses.setCondition(reduced, condition, signal);
    const { body } = await client.get(`${PATHS.hpas}/web`);
    expect(body.metadata.annotations).to.deep.equal(annotations);
    expect(body.status).to.deep.include({ currentReplicas: 3, desiredReplicas: 4 });
    expect(body.status.conditions).to.have.length(2);
    expect(body.status.conditions[1]).to.deep.include(condition);
    await statuses.setCondition(reduced, condition, signal);
    const again = (await client.get(`${PATHS.hpas}/web`)).body;
    expect(again.metadata.resourceVersion).to.equal(body.metadata.resourceVersion);
    await statuses.setCondition(
      { ...reduced, metadata: { ...reduced.metadata, uid: 'other' } },
      condition,
      signal,
    );
  });

  for (const [what, desiredReplicas, change] of [
    ['writes over what others have changed but the status', 3, 'spec'],
    ['leaves a status to who has written it meanwhile', 9, 'status'],
    ['leaves alone the status of one that was made again under the name', undefined, 'identity'],
  ] as const)
    it(what, async () => {
      await using server = await startSimulatedApiServer();
      const { client, clock } = server;
      await using api = new ApiClient({ access: await server.access(), clock, userAgent: 'spec/1' });
      const hpas = hpaResourceClient(api, { served: async () => RESOURCE });
      await client.post(PATHS.hpas, WEB);
      const observed = readHpa((await client.get(`${PATHS.hpas}/web`)).body, 'v2');
      if (change === 'spec') await client.patch(`${PATHS.hpas}/web`, 'merge', { spec: { maxReplicas: 7 } });
      if (change === 'status')
        await client.patch(`${PATHS.hpas}/web/status`, 'merge', {
          status: { currentReplicas: 1, desiredReplicas: 9 },
        });
      if (change === 'identity') {
        await client.delete(`${PATHS.hpas}/web`);
        await client.post(PATHS.hpas, WEB);
      }
      const statuses = new HpaStatusWriter({
        hpas,
        others: new ExternalControllers(clock),
        clock: systemClock,
      });
      const writing = statuses.write(observed, { currentReplicas: 1, desiredReplicas: 3 }, signal);
      const failure = await writing.then(
        () => undefined,
        (error: { statusCode?: number }) => error.statusCode,
      );
      expect(failure).to.equal(change === 'spec' ? undefined : 409);
      const { spec, status } = (await client.get(`${PATHS.hpas}/web`)).body;
      expect(status?.desiredReplicas || undefined).to.equal(desiredReplicas);
      expect(spec.maxReplicas).to.equal(change === 'spec' ? 7 : 5);
    });
});

const WEB = {
  ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'web' } },
  spec: { maxReplicas: 5, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
};
