import { expect } from 'chai';
import { recordEvent, withoutSelector } from '#lib/hpa/hpa-controller.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { type ApiFault, conflictWrites, forRequests, refuseRequests } from '#simulator/api-server/faults.ts';
import { type HpaCluster, PATHS, startHpaCluster } from '#spec/support/hpa-cluster.ts';
import { webHpa } from './min-replicas/built-decision.ts';

describe('hpaController', () => {
  let cluster: HpaCluster;

  afterEach(() => cluster[Symbol.asyncDispose]());

  it('scales by an external metric, and reports it in status and events', async () => {
    cluster = await startHpaCluster();
    await cluster.deployment('web', 2);
    await cluster.hpa('web');
    cluster.queue('web', '40');
    await cluster.lead();
    await cluster.passes(async () => (await cluster.replicas('web')) === 4);
    await cluster.passes(async () => (await cluster.get('web')).status.desiredReplicas === 4);
    const { status, metadata } = await cluster.get('web');
    expect(status).to.deep.include({ currentReplicas: 2, desiredReplicas: 4 });
    expect(
      status.conditions.map(({ type, reason }: { type: string; reason: string }) => `${type} ${reason}`),
    ).to.deep.equal([
      'AbleToScale SucceededRescale',
      'ScalingActive ValidMetricFound',
      'ScalingLimited DesiredWithinRange',
      'ScaledToZero NotScaledToZero',
    ]);
    expect(status.currentMetrics[0].external.current).to.deep.equal({ averageValue: '20' });
    expect(cluster.events).to.deep.equal([
      'web SuccessfulRescale New size: 4; reason: external metric web(nil) above target',
    ]);
    expect(cluster.logger.lines.map(({ message }) => message)).to.include(
      'Scaled Deployment default/web from 2 to 4 (hpa web: external metric web above target)',
    );
    expect(metadata.managedFields.map(({ manager }: { manager: string }) => manager)).to.include(
      'autoscaler-hpa',
    );
  });

  it('decides once a period, and writes a status only when it changed', async () => {
    cluster = await startHpaCluster();
    await cluster.deployment('web', 2);
    await cluster.hpa('web');
    cluster.queue('web', '20');
    await cluster.lead();
    await cluster.elapse(20);
    const { metadata } = await cluster.get('web');
    const requested = cluster.metrics.requested.length;
    await cluster.elapse(60);
    expect(cluster.metrics.requested.length - requested).to.be.within(4, 5); // 60 s, or slightly more
    expect((await cluster.get('web')).metadata.resourceVersion).to.equal(metadata.resourceVersion);
  });

  it('scales once a period though statuses cannot be written', async () => {
    cluster = await startHpaCluster();
    cluster.setFaults(refusedUpdates('status'));
    await cluster.deployment('web', 2);
    await cluster.hpa('web');
    cluster.queue('web', '1000');
    await cluster.lead({ syncPeriodMs: 3_600_000 });
    await cluster.passes(async () => (await cluster.replicas('web')) !== 2);
    await cluster.elapse(60);
    expect(await cluster.replicas('web')).to.equal(4);
  });

  it('does not scale by metrics while a pod of the namespace has too many labels to be cached', async () => {
    cluster = await startHpaCluster();
    await cluster.deployment('web', 2);
    await cluster.hpa('web');
    cluster.queue('web', '40');
    const labels = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`label-${index}`, 'v']));
    const spec = { containers: [{ name: 'main', image: 'nginx' }] };
    for (const namespace of ['default', 'kube-system']) {
      const body = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name: 'big', labels }, spec };
      const { status } = await cluster.api.post(`/api/v1/namespaces/${namespace}/pods`, body);
      expect(status).to.equal(201);
    }
    await cluster.lead();
    await cluster.passes(async () => condition(await cluster.get('web'), 'ScalingActive') !== undefined);
    expect(condition(await cluster.get('web'), 'ScalingActive')).to.deep.include({
      ...{ status: 'False', reason: 'UnselectablePods' },
      message: 'Cannot select pods of namespace default: pod big has labels and requests of more than 16 KiB',
    });
    expect(await cluster.replicas('web')).to.equal(2);
    const logged = cluster.logger.lines.filter(({ message }) => message.startsWith('Cannot cache labels'));
    expect(logged.map(({ fields }) => fields?.object)).to.have.members(['default/big', 'kube-system/big']);
    await cluster.api.delete('/api/v1/namespaces/default/pods/big');
    await cluster.elapse(35);
    expect(await cluster.replicas('web')).to.equal(4); // the pod of the other namespace is ignored
  });

  it('reports a rejected scale, records no scale event, and retries', async () => {
    cluster = await startHpaCluster();
    cluster.setFaults(refusedUpdates('scale'));
    await cluster.deployment('web', 2);
    const policies = [{ type: 'Pods', value: 2, periodSeconds: 600 }];
    await cluster.hpa('web', { spec: { behavior: { scaleUp: { policies } } } });
    cluster.queue('web', '90');
    await cluster.lead();
    await cluster.passes(async () => condition(await cluster.get('web'), 'AbleToScale') !== undefined);
    const { status } = await cluster.get('web');
    expect(condition({ status }, 'AbleToScale')).to.deep.include({
      status: 'False',
      reason: 'FailedUpdateScale',
    });
    expect(status).to.include({ currentReplicas: 2, desiredReplicas: 0 });
    expect(status).to.not.have.property('lastScaleTime');
    expect(cluster.events).to.have.lengthOf(1);
    expect(cluster.events[0]).to.match(/^web FailedRescale New size: 4; .* error: /);
    cluster.setFaults();
    await cluster.elapse(20);
    expect(await cluster.replicas('web')).to.equal(4); // the policy permits more
    expect((await cluster.get('web')).status).to.include({ currentReplicas: 2, desiredReplicas: 4 });
    await cluster.elapse(60);
    expect(await cluster.replicas('web')).to.equal(4);
  });

  it('retains recommendations for the window though statuses cannot be written', async () => {
    cluster = await startHpaCluster();
    cluster.setFaults(refusedUpdates('status'));
    await cluster.deployment('web', 4);
    await cluster.hpa('web');
    cluster.queue('web', '60');
    await cluster.lead();
    await cluster.passes(async () => (await cluster.replicas('web')) === 6);
    cluster.queue('web', '20');
    await cluster.elapse(270);
    expect(await cluster.replicas('web')).to.equal(6);
    await cluster.elapse(90);
    expect(await cluster.replicas('web')).to.equal(2);
  });

  it('adopts the period of an HPA at once, and back', async () => {
    cluster = await startHpaCluster();
    await cluster.deployment('web', 2);
    await cluster.hpa('web');
    cluster.queue('web', '20');
    await cluster.lead({ syncPeriodMs: 3_600_000 });
    await cluster.elapse(5);
    expect(cluster.metrics.requested).to.have.lengthOf(1);
    await annotate({ 'platform.stke/resync-period': '5s' });
    await cluster.passes(() => cluster.metrics.requested.length === 2);
    await cluster.elapse(20);
    expect(cluster.metrics.requested.length).to.be.within(5, 7); // the first of the four may reuse the previous read
    const before = cluster.metrics.requested.length;
    await annotate({ 'platform.stke/resync-period': '1ms' });
    await cluster.passes(() => cluster.events.some((event) => event.startsWith('web InvalidResyncPeriod')));
    await cluster.elapse(60);
    expect(cluster.metrics.requested.length - before).to.be.lessThan(3);
    expect(cluster.events.filter((event) => event.includes('InvalidResyncPeriod'))).to.have.lengthOf(1);
  });

  it('lists pod usage once per namespace and period, for any number of HPAs', async () => {
    cluster = await startHpaCluster({ nodes: 1, podsPerNode: 0, namespaces: ['default'] });
    const metrics = [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
      },
    ];
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) {
      await cluster.deployment(name, 2);
      await cluster.hpa(name, { spec: { metrics } });
    }
    const list = '/apis/metrics.k8s.io/v1beta1/namespaces/default/pods';
    await cluster.passes(async () => (await runningPods()).length === 8, 100);
    await cluster.elapse(60);
    cluster.metrics.responses.set(list, {
      items: (await runningPods()).map(
        ({ metadata: { name, labels } }: { metadata: { name: string; labels: object } }) => ({
          ...{ metadata: { name, labels }, window: '30s' },
          timestamp: new Date(cluster.clock.nowMs() + 3_600_000).toISOString(),
          containers: [{ name: 'main', usage: { cpu: name.startsWith('a') ? '100m' : '50m' } }],
        }),
      ),
    });
    await cluster.lead();
    await cluster.passes(async () => (await cluster.replicas('a')) === 4);
    await cluster.elapse(20);
    const before = cluster.metrics.requested.length;
    await cluster.elapse(150);
    expect(new Set(cluster.metrics.requested.slice(before))).to.deep.equal(new Set([list]));
    expect(cluster.metrics.requested.length - before).to.be.within(10, 11); // 150 s, or slightly more
    expect(await Promise.all(names.slice(1).map(cluster.replicas))).to.deep.equal([2, 2, 2]);
  });

  it('writes nothing in a dry run, and only selected HPAs otherwise', async () => {
    cluster = await startHpaCluster();
    for (const name of ['web', 'db']) {
      await cluster.deployment(name, 2);
      await cluster.hpa(name, { metadata: { labels: { app: name } } });
      cluster.queue(name, '40');
    }
    await cluster.lead({ isDryRun: true });
    await cluster.elapse(30);
    const series = await cluster.running.registry.metrics();
    expect(series).to.match(/autoscaler_hpa_dry_run_decisions_total\{agrees="false"\} [1-9]/);
    expect(await cluster.replicas('web')).to.equal(2);
    expect((await cluster.get('web')).status.conditions).to.equal(undefined);
    expect((await cluster.api.get(PATHS.memory)).status).to.equal(404);
    expect(cluster.events).to.deep.equal([]);
    await cluster.stop();
    await cluster.lead({ selector: parseLabelSelector('app=db') });
    await cluster.elapse(30);
    expect([await cluster.replicas('web'), await cluster.replicas('db')]).to.deep.equal([2, 4]);
  });

  it('reports why it cannot scale, and continues once it can', async () => {
    cluster = await startHpaCluster();
    await cluster.hpa('web');
    await cluster.lead();
    await cluster.passes(async () => condition(await cluster.get('web'), 'AbleToScale') !== undefined);
    expect(condition(await cluster.get('web'), 'AbleToScale')).to.deep.include({
      status: 'False',
      reason: 'FailedGetScale',
      message:
        'the HPA controller was unable to get the target\'s current scale: deployments.apps "web" not found',
    });
    await cluster.deployment('web', 2);
    await cluster.elapse(20);
    expect(condition(await cluster.get('web'), 'ScalingActive')).to.deep.include({
      reason: 'FailedGetExternalMetric',
      message:
        'the HPA was unable to compute the replica count: unable to get external metric default/web/nil: unable to fetch metrics from external metrics API: no such metric',
    });
    cluster.queue('web', '30');
    await cluster.elapse(20);
    expect(await cluster.replicas('web')).to.equal(3);
  });

  it('scales an HPA whose target is a number instead of a text, as the API server takes it', async () => {
    cluster = await startHpaCluster();
    await cluster.deployment('web', 2);
    const target = { type: 'AverageValue', averageValue: 10 };
    const metrics = [{ type: 'External', external: { metric: { name: 'web' }, target } }];
    await cluster.hpa('web', { spec: { metrics } });
    cluster.queue('web', '40');
    await cluster.lead();
    await cluster.passes(async () => (await cluster.replicas('web')) === 4);
  });

  describe('for an HPA with a period of half an hour', () => {
    const PERIOD = { syncPeriodMs: 1_800_000 };

    it('decides within seconds after the value of a metric arrives, with backoff from 1 s', async () => {
      cluster = await startHpaCluster();
      await cluster.deployment('web', 2);
      await cluster.hpa('web');
      await cluster.lead(PERIOD);
      await cluster.passes(async () => condition(await cluster.get('web'), 'ScalingActive') !== undefined);
      expect(condition(await cluster.get('web'), 'ScalingActive')?.status).to.equal('False');
      cluster.queue('web', '40');
      await cluster.elapse(2);
      expect(await cluster.replicas('web')).to.equal(4);
      const requested = cluster.metrics.requested.length;
      await cluster.elapse(120);
      expect(cluster.metrics.requested).to.have.lengthOf(requested); // as usual: once a period
    });

    it('evaluates it again every minute at most while the metric has no value', async () => {
      cluster = await startHpaCluster();
      await cluster.deployment('web', 2);
      await cluster.hpa('web');
      await cluster.lead(PERIOD);
      await cluster.elapse(1);
      await cluster.elapse(63);
      expect(cluster.metrics.requested.length).to.be.within(6, 7); // after 1, 3, 7, 15, 31 and 63 s
      await cluster.elapse(600);
      expect(cluster.metrics.requested.length).to.be.within(15, 17);
      cluster.queue('web', '40');
      await cluster.elapse(61);
      expect(await cluster.replicas('web')).to.equal(4);
    });

    it('decides within seconds after one of several metrics arrives, and after its target is created', async () => {
      cluster = await startHpaCluster();
      const external = (name: string) => {
        const target = { type: 'AverageValue', averageValue: '10' };
        return { type: 'External', external: { metric: { name }, target } };
      };
      await cluster.hpa('web', { spec: { metrics: [external('web'), external('other')] } });
      cluster.queue('web', '20');
      await cluster.lead(PERIOD);
      await cluster.elapse(2);
      await cluster.deployment('web', 2);
      await cluster.elapse(6);
      expect(condition(await cluster.get('web'), 'ScalingActive')?.status).to.equal('True');
      expect(await cluster.replicas('web')).to.equal(2);
      cluster.queue('other', '40');
      await cluster.elapse(16);
      expect(await cluster.replicas('web')).to.equal(4);
    });
  });

  it('decides by the maximum number of external metrics, each requested once', async () => {
    cluster = await startHpaCluster();
    await cluster.deployment('web', 2);
    const names = Array.from({ length: 500 }, (_, index) => `queue-${index}`);
    const target = { type: 'AverageValue', averageValue: '10' };
    const metrics = names.map((name) => ({ type: 'External', external: { metric: { name }, target } }));
    await cluster.hpa('web', { spec: { metrics } });
    for (const name of names) cluster.queue(name, name === 'queue-499' ? '40' : '20');
    await cluster.lead();
    await cluster.passes(async () => (await cluster.get('web')).status?.desiredReplicas === 4);
    expect(await cluster.replicas('web')).to.equal(4);
    expect(cluster.metrics.requested).to.have.lengthOf(500);
  });

  it('rejects two HPAs that scale the same pods', async () => {
    cluster = await startHpaCluster({ nodes: 1, podsPerNode: 0 });
    await cluster.deployment('web', 2);
    await cluster.hpa('web');
    await cluster.hpa('also', {
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
    });
    await cluster.passes(async () => (await runningPods()).length === 2, 100);
    cluster.queue('web', '20');
    cluster.queue('also', '20');
    await cluster.lead();
    await cluster.elapse(40);
    for (const name of ['web', 'also']) {
      expect(condition(await cluster.get(name), 'ScalingActive')).to.deep.include({
        reason: 'AmbiguousSelector',
        message: 'pods by selector app=web are controlled by multiple HPAs: [default/also default/web]',
      });
    }
  });

  it('writes a status although other clients change the HPA meanwhile', async () => {
    cluster = await startHpaCluster();
    await cluster.deployment('web', 2);
    await cluster.hpa('web');
    cluster.queue('web', '40');
    cluster.setFaults(forRequests({ resource: 'horizontalpodautoscalers' }, conflictWrites(2)));
    await cluster.lead();
    await cluster.passes(async () => (await cluster.get('web')).status?.desiredReplicas === 4, 20);
    expect(await cluster.replicas('web')).to.equal(4);
  });

  for (const version of ['v2beta2', 'v1'] as const) {
    it(`manages HPAs of autoscaling/${version}`, async () => {
      cluster = await startHpaCluster({ kubernetesMinor: version === 'v1' ? 34 : 22 });
      await cluster.deployment('web', 2);
      await cluster.hpa('web', {}, version === 'v1' ? 'v2' : version);
      cluster.queue('web', '40');
      await cluster.lead({}, { version });
      await cluster.passes(async () => (await cluster.replicas('web')) === 4);
      const path = PATHS.hpas.replace('v2', version === 'v1' ? 'v2' : version);
      const status = async () => (await cluster.api.get(`${path}/web`)).body.status;
      await cluster.passes(async () => (await status()).desiredReplicas === 4);
    });
  }

  it('writes in the version that is served, also when the one of before is removed', async () => {
    cluster = await startHpaCluster({ kubernetesMinor: 24 });
    await cluster.deployment('web', 2);
    await cluster.hpa('web');
    cluster.queue('web', '20');
    await cluster.lead({}, { version: 'v2beta2' });
    await cluster.passes(async () => (await cluster.get('web')).status?.desiredReplicas === 2, 100);
    await cluster.upgrade('v2');
    cluster.queue('web', '40');
    await cluster.passes(async () => (await cluster.get('web')).status?.desiredReplicas === 4, 500);
    expect(await cluster.replicas('web')).to.equal(4);
  });

  // Untyped: each spec asserts the content of an object.
  function condition(hpa: ReturnType<typeof JSON.parse>, desired: string) {
    return hpa.status?.conditions?.find(({ type }: { type: string }) => type === desired);
  }

  async function runningPods() {
    const { items } = (await cluster.api.get('/api/v1/namespaces/default/pods')).body;
    return items.filter(({ status }: { status: { phase: string } }) => status.phase === 'Running');
  }

  async function annotate(annotations: object): Promise<void> {
    const { status } = await cluster.api.patch(`${PATHS.hpas}/web`, 'merge', { metadata: { annotations } });
    expect(status).to.equal(200);
  }
});

/** Rejects writes of any object's subresource. */
function refusedUpdates(subresource: 'status' | 'scale'): ApiFault {
  const refused = refuseRequests({ code: 403, reason: 'Forbidden' });
  return {
    serve: (request, context) =>
      request.verb === 'update' && request.target.isResource && request.target.subresource === subresource
        ? refused.serve(request, context)
        : context.next(),
  };
}

/** Exceeds the time for which values that were read for one HPA may be reused for others. */
const BUSY_MS = 20_000;

describe('decideAndScale after a long wait for a permit', () => {
  let cluster: HpaCluster;

  /** One HPA is being reconciled, and the other, with 4 desired replicas, waits for it. */
  beforeEach(async () => {
    cluster = await startHpaCluster();
    const writing = Promise.withResolvers<void>();
    cluster.setFaults(lateScaleOf('slow', writing.resolve));
    for (const name of ['slow', 'web']) {
      await cluster.deployment(name, 2);
      cluster.queue(name, '40');
    }
    await cluster.hpa('slow');
    await cluster.lead({ concurrentSyncs: 1, syncPeriodMs: 3_600_000 });
    await cluster.passes(() => cluster.metrics.requested.some((path) => path.endsWith('/slow')));
    await writing.promise;
    await cluster.hpa('web');
    await cluster.passes(() => cluster.metrics.requested.some((path) => path.endsWith('/web')));
    await cluster.passes(() => true);
    expect(await cluster.replicas('web')).to.equal(2);
  });
  const slowIsWritten = async () => {
    await cluster.passes(async () => (await cluster.replicas('slow')) === 4, 500);
    await cluster.elapse(2);
  };
  afterEach(() => cluster[Symbol.asyncDispose]());

  it('decides by the current metrics', async () => {
    cluster.queue('web', '30');
    await slowIsWritten();
    await cluster.passes(async () => (await cluster.get('web')).status?.desiredReplicas !== undefined);
    expect([await cluster.replicas('slow'), await cluster.replicas('web')]).to.deep.equal([4, 3]);
  });

  it('decides by the current HPA', async () => {
    await cluster.api.patch(`${PATHS.hpas}/web`, 'merge', { spec: { maxReplicas: 3 } });
    await slowIsWritten();
    await cluster.passes(async () => (await cluster.replicas('web')) !== 2);
    expect(await cluster.replicas('web')).to.equal(3);
    expect(cluster.events.filter((event) => event.startsWith('web Succ'))).to.have.lengthOf(1);
  });

  it('does nothing for a deleted HPA', async () => {
    await cluster.api.delete(`${PATHS.hpas}/web`);
    await slowIsWritten();
    expect([await cluster.replicas('slow'), await cluster.replicas('web')]).to.deep.equal([4, 2]);
    expect(cluster.logger.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });
});

describe('decideAndScale during a long read of the scale', () => {
  for (const [what, change, expected] of [
    ['scales nothing for an HPA that is deleted meanwhile', undefined, 2],
    ['scales by the bounds that its user sets meanwhile', { spec: { maxReplicas: 3 } }, 3],
  ] as const) {
    it(what, async () => {
      await using cluster = await startHpaCluster();
      const reading = Promise.withResolvers<void>();
      cluster.setFaults(lateScaleOf('web', reading.resolve, 'get'));
      await cluster.deployment('web', 2);
      cluster.queue('web', '40');
      await cluster.hpa('web');
      await cluster.lead({ syncPeriodMs: 3_600_000 });
      await cluster.passes(() => cluster.metrics.requested.some((path) => path.endsWith('/web')));
      await reading.promise;
      const path = `${PATHS.hpas}/web`;
      await (change ? cluster.api.patch(path, 'merge', change) : cluster.api.delete(path));
      const readAtMs = cluster.clock.monotonicMs() + BUSY_MS;
      await cluster.passes(() => cluster.clock.monotonicMs() > readAtMs, 500);
      await cluster.passes(async () => !change || (await cluster.replicas('web')) !== 2, 500);
      expect(await cluster.replicas('web')).to.equal(expected);
      expect(cluster.events.filter((event) => event.startsWith('web Succ'))).to.have.lengthOf(change ? 1 : 0);
    });
  }
});

/** Delays the write, or the read, of one scale. */
function lateScaleOf(name: string, onWriting: () => void, late: 'update' | 'get' = 'update'): ApiFault {
  return {
    async serve({ verb, target, signal }, { clock, next }) {
      const isMeant = verb === late && target.isResource && target.subresource === 'scale';
      if (isMeant && target.name === name) {
        const slept = clock.sleep(BUSY_MS, { signal });
        onWriting();
        await slept;
      }
      await next();
    },
  };
}

describe('recordEvent', () => {
  it('records an event about the HPA, and none in a dry run', () => {
    const web = webHpa({ minReplicas: 1 });
    const hpa = { ...web, metadata: { ...web.metadata, resourceVersion: '7' } };
    const event = { type: 'Warning', reason: 'FailedGetScale', message: 'gone' } as const;
    const recorded = (isDryRun: boolean) => {
      const all: unknown[] = [];
      recordEvent(hpa, { events: { record: (one) => void all.push(one) }, options: { isDryRun } }, event);
      return all;
    };
    expect(recorded(false)).to.deep.equal([
      {
        regarding: {
          ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' },
          ...{ namespace: 'default', name: 'web', uid: 'u', resourceVersion: '7' },
        },
        ...{ action: 'Scale', type: 'Warning', reason: 'FailedGetScale', message: 'gone' },
      },
    ]);
    expect(recorded(true)).to.deep.equal([]);
  });
});

describe('withoutSelector', () => {
  for (const [reason, expected] of [
    ['external metric queue(nil) above target', 'external metric queue above target'],
    [
      'external metric s0-queue(&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}) above target',
      'external metric s0-queue above target',
    ],
    [
      'cpu resource utilization (percentage of request) above target',
      'cpu resource utilization (percentage of request) above target',
    ],
    ['All metrics below target', 'All metrics below target'],
    ['', ''],
  ] as const) {
    it(`logs "${expected}" for "${reason}"`, () => {
      expect(withoutSelector(reason)).to.equal(expected);
    });
  }
});
