import { expect } from 'chai';
import { Registry } from 'prom-client';
import { ScaleClient } from '#lib/control/scale-client.ts';
import { ScaleLog } from '#lib/control/scale-log.ts';
import { leadTogether } from '#lib/control/subsystem.ts';
import { type CronHpaSubsystem, cronHpaSubsystem } from '#lib/cron-hpa/cron-hpa-subsystem.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { readPageQuery } from '#lib/ui/page-query.ts';
import { forRequests, refuseRequests } from '#simulator/api-server/faults.ts';
import { ALIBABA_DEFINITION } from '#spec/support/alibaba-definition.ts';
import { readDefinition } from '#spec/support/definition-file.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { eventually } from '#spec/support/eventually.ts';
import { created } from '#spec/support/examined-autoscaler.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const CRON_HPAS = '/apis/autoscaling.stke.com/v1beta1/namespaces/default/cronhorizontalpodautoscalers';
const HPAS = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';

const UP = { name: 'up', schedule: '0 0 8 * * *', targetSize: 3 };
const deployment = (name: string, apiVersion = 'apps/v1') => ({ apiVersion, kind: 'Deployment', name });

describe('cronHpaSubsystem', () => {
  let stack: AsyncDisposableStack;
  let server: SimulatedApiServer;
  let registry: Registry;
  let open: (registry: Registry, kinds?: { readonly runsAlibaba?: boolean }) => CronHpaSubsystem;
  let subsystem: CronHpaSubsystem;
  let informers: SharedInformers;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    const clock = new ManualClock(Date.parse('2026-07-15T07:00:00Z'));
    const crd = readDefinition('cron-horizontal-pod-autoscaler');
    server = stack.use(await startSimulatedApiServer({ clock, definitions: [crd] }));
    const access = await server.access();
    const client = stack.use(new ApiClient({ access, clock, userAgent: 'spec/1', requestTimeoutMs: 1e12 }));
    const logger = new RecordingLogger();
    const mapper = new RestMapper({ api: client, clock });
    informers = stack.use(new SharedInformers({ client, mapper, clock, logger }));
    registry = new Registry();
    open = (registry, kinds = {}) =>
      stack.use(
        cronHpaSubsystem({
          ...{ client, informers, registry, clock, logger, timeZone: 'UTC', events: { record() {} } },
          scaleLog: new ScaleLog({ logger }),
          scales: new ScaleClient({ api: client, mapper, clock }),
          ...kinds,
        }),
      );
    subsystem = open(registry);
  });

  afterEach(() => stack.disposeAsync());

  it('watches nothing until it is started, and is synced once it has listed all objects', async () => {
    await cronHpa('web');
    expect(subsystem.isSynced).to.equal(false);
    subsystem.start();
    await eventually(() => subsystem.isSynced);
    expect(await objects()).to.deep.equal({ true: 0, false: 1 });
  });

  for (const [refused, other] of [
    ['cronhorizontalpodautoscalers', 'horizontalpodautoscalers'],
    ['horizontalpodautoscalers', 'cronhorizontalpodautoscalers'],
  ] as const) {
    it(`is not synced while only the ${other} are listed`, async () => {
      const requested: string[] = [];
      const refusal = forRequests({ resource: refused }, refuseRequests({ code: 403, reason: 'Forbidden' }));
      server.cluster.apiServer.setFaults({
        serve: async (request, context) => {
          if (request.target.isResource) requested.push(`${request.verb} ${request.target.resource}`);
          await refusal.serve(request, context);
        },
      });
      subsystem.start();
      await eventually(() => requested.includes(`list ${refused}`) && requested.includes(`watch ${other}`));
      expect(subsystem.isSynced).to.equal(false);
    });
  }

  it('throws when its controller cannot be composed, and ends when it no longer leads', async () => {
    await informers[Symbol.asyncDispose]();
    expect(await errorOf(subsystem.lead(new AbortController().signal))).to.equal('informers are closed');
    await leadTogether([subsystem], AbortSignal.abort(new Error('not the leader any more')));
  });

  it('counts ready and unready objects', async () => {
    await cronHpa('web', ready('True'));
    await cronHpa('api', ready('True'));
    await cronHpa('mail', ready('False'));
    await cronHpa('new');
    subsystem.start();
    await eventually(() => subsystem.isSynced);
    expect(await objects()).to.deep.equal({ true: 2, false: 2 });
  });

  it('returns the targets that an object pins, until it is being deleted', async () => {
    await cronHpa('web', { scaleUpKeepWindow: true }, { finalizers: ['example.com/last-words'] });
    await cronHpa('api', { scaleUpKeepWindow: false });
    const hold = { annotations: { 'platform.stke/adjust-hpa-min': 'hold' } };
    await cronHpa('held', { scaleUpKeepWindow: false }, hold);
    subsystem.start();
    await eventually(() => subsystem.isSynced);
    expect(subsystem.isPinned('default', deployment('web'))).to.equal(true);
    expect(subsystem.isPinned('default', deployment('web', 'extensions/v1beta1'))).to.equal(true);
    expect(subsystem.isPinned('other', deployment('web'))).to.equal(false);
    expect(subsystem.isPinned('default', deployment('api'))).to.equal(false);
    expect(subsystem.isPinned('default', deployment('none'))).to.equal(false);
    expect(subsystem.isPinned('default', deployment('held'))).to.equal(true);
    await server.client.delete(`${CRON_HPAS}/web`);
    await eventually(() => !subsystem.isPinned('default', deployment('web')));
  });

  it('shows objects under /debug and on the page', async () => {
    await cronHpa('web');
    await cronHpa('web-too', {}, {}, 'web');
    subsystem.start();
    await eventually(() => subsystem.isSynced);
    expect([...subsystem.endpoints.keys()]).to.deep.equal(['/debug/cronhpas']);
    const [part] = subsystem.ui;
    expect(part?.summary()).to.deep.equal({ count: 2, unhealthy: 2, problem: 'not ready' });
    const page = async (name: string) =>
      await part?.render(
        readPageQuery(new URLSearchParams({ view: 'cronhpas', namespace: 'default', name }), []),
      );
    const shown = async () => `${await page('web')}`;
    expect(await errorOf(page('none'))).to.contain('not found');
    expect(await shown()).to.contain('<dt>Sets</dt><dd>replicas of web: no Horizontal');
    expect(await shown()).to.contain('&quot;web-too&quot; also scales Deployment &quot;web&quot;');
    expect(await shown()).to.contain('<td class="faint" data-title="Time zone">UTC</td>');
    expect(await shown()).to.contain('title="2026-07-15T08:00:00Z">in 1h</time>');
    await created(server, HPAS, {
      ...{ apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { name: 'web-hpa' } },
      spec: { scaleTargetRef: deployment('web'), minReplicas: 1, maxReplicas: 5 },
    });
    await eventually(async () => (await shown()).includes('<dt>Sets</dt><dd>minReplicas of web-hpa: '));
  });

  it('shows the objects of both kinds that have one name', async () => {
    await created(server, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', ALIBABA_DEFINITION);
    const both = open(new Registry(), { runsAlibaba: true });
    await cronHpa('web');
    await created(server, CRON_HPAS.replace('stke.com', 'alibabacloud.com'), {
      ...{ apiVersion: 'autoscaling.alibabacloud.com/v1beta1', kind: 'CronHorizontalPodAutoscaler' },
      ...{ metadata: { name: 'web' }, spec: { scaleTargetRef: deployment('api'), jobs: [UP] } },
    });
    both.start();
    const query = new URLSearchParams({ view: 'cronhpas', namespace: 'default', name: 'web' });
    const [part] = both.ui;
    await eventually(() => part?.summary()?.count === 2);
    const page = `${await part?.render(readPageQuery(query, []))}`;
    expect([...page.matchAll(/<dt>Target<\/dt><dd>(.*?)<\/dd>/g)].map(([, target]) => target)).to.deep.equal([
      'Deployment web',
      'Deployment api',
    ]);
  });

  /** Counts objects by readiness. */
  async function objects(): Promise<Record<string, number>> {
    const [metric] = (await registry.getMetricsAsJSON()).filter(({ name }) => name === 'cronhpa_objects');
    return Object.fromEntries(metric?.values.map(({ labels, value }) => [labels.ready, value]) ?? []);
  }

  async function cronHpa(name: string, status?: object, metadata: object = {}, target = name): Promise<void> {
    await created(server, CRON_HPAS, {
      ...{ apiVersion: 'autoscaling.stke.com/v1beta1', kind: 'CronHorizontalPodAutoscaler' },
      metadata: { name, ...metadata },
      spec: {
        scaleTargetRef: deployment(target),
        jobs: [UP],
      },
    });
    if (status) await server.client.patch(`${CRON_HPAS}/${name}/status`, 'merge', { status });
  }
});

function ready(status: 'True' | 'False'): object {
  const lastTransitionTime = '2026-07-15T06:00:00Z';
  return { conditions: [{ type: 'Ready', status, reason: 'Some', message: 'so', lastTransitionTime }] };
}
