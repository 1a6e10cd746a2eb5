import { expect } from 'chai';
import { CRON_HPAS, type CronHpa, type CronHpaStatus } from '#lib/cron-hpa/cron-hpa.ts';
import { type StatusClient, statusClient } from '#lib/cron-hpa/cron-hpa-kind.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { systemClock } from '#lib/time/clock.ts';
import { PATHS } from '#spec/support/cron-hpa-cluster.ts';
import { cronHpa } from '#spec/support/cron-hpas.ts';
import { readDefinition } from '#spec/support/definition-file.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const NAME = { namespace: 'default', name: 'web' };
const { signal } = new AbortController();

const statusWith = (lastResult: string): CronHpaStatus => ({
  jobs: [
    {
      jobId: 'j1',
      name: 'morning',
      schedule: '0 0 8 * * *',
      state: 'Submitted',
      lastProbeTime: '2026-01-01T00:00:00Z',
      message: '',
      submittedTime: '2026-01-01T00:00:00Z',
      specHash: 'abc',
    },
  ],
  scaleUpKeepWindow: false,
  lastResult,
});

for (const kubernetesMinor of [20, 34])
  describe(`statusClient, with Kubernetes 1.${kubernetesMinor}`, () => {
    let server: SimulatedApiServer;
    let api: ApiClient;
    let statuses: StatusClient;

    beforeEach(async () => {
      const definition = readDefinition('cron-horizontal-pod-autoscaler');
      server = await startSimulatedApiServer({ definitions: [definition], scenario: { kubernetesMinor } });
      api = new ApiClient({ access: await server.access(), clock: server.clock, userAgent: 'spec' });
      statuses = statusClient(new ResourceClient({ api, resource: CRON_HPAS }), systemClock);
    });

    afterEach(async () => {
      await api[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    });

    async function create(): Promise<CronHpa> {
      const { scaleTargetRef, jobs } = cronHpa().spec;
      const metadata = { name: 'web' };
      const typed = { apiVersion: 'autoscaling.stke.com/v1beta1', kind: 'CronHorizontalPodAutoscaler' };
      await server.client.post(PATHS.cronHpas, { ...typed, metadata, spec: { scaleTargetRef, jobs } });
      const object = await statuses.get(NAME, signal);
      if (!object) throw new Error('It was not created');
      return object;
    }

    it('gets an object from the API server, and undefined for a missing one', async () => {
      expect(await statuses.get(NAME, signal)).to.equal(undefined);
      expect(await create()).to.deep.include({
        ...NAME,
        status: { jobs: [], ready: undefined, scaleUpKeepWindow: false },
      });
    });

    it('writes a changed status, and returns the written object', async () => {
      const object = await create();
      const after = await statuses.write(object, statusWith('Succeed morning'), signal);
      expect(after?.status).to.deep.include(statusWith('Succeed morning'));
      expect(after?.spec).to.deep.equal(object.spec);
      if (after)
        expect(await statuses.write(after, statusWith('Succeed morning'), signal)).to.equal(undefined);
      expect((await statuses.get(NAME, signal))?.resourceVersion).to.equal(after?.resourceVersion);
    });

    it('writes over other changes of the object', async () => {
      const object = await create();
      await server.client.patch(`${PATHS.cronHpas}/web`, 'merge', { metadata: { labels: { a: 'b' } } });
      expect(await statuses.write(object, statusWith('Succeed morning'), signal)).not.to.equal(undefined);
    });

    it('never writes over what another leader has written since', async () => {
      const object = await create();
      await statuses.write(object, statusWith('Succeed morning'), signal);
      const late = statuses.write(object, statusWith('Failed morning'), signal);
      expect(await errorOf(late)).to.match(/\(status 409\)/);
      expect((await statuses.get(NAME, signal))?.status.lastResult).to.equal('Succeed morning');
    });

    it('writes nothing to another object with the same name', async () => {
      const object = await create();
      await server.client.delete(`${PATHS.cronHpas}/web`);
      const other = await create();
      expect(await errorOf(statuses.write(object, statusWith('Succeed morning'), signal))).to.match(
        /\(status 4\d\d\)/,
      );
      expect(await statuses.get(NAME, signal)).to.deep.equal(other);
    });
  });
