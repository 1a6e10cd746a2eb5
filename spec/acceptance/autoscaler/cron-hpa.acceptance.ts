import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ALIBABA_DEFINITION } from '#spec/support/alibaba-definition.ts';
import type { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { needControllers } from '../control-plane/need-binaries.ts';
import { InstalledAutoscaler } from './installed-autoscaler.ts';
import { cronHpa, deployment, horizontalPodAutoscaler, scheduleAt } from './scheduled-objects.ts';

const ACCOUNT = 'system:serviceaccount:kube-system:autoscaler';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const ALIBABA = 'cronhorizontalpodautoscalers.autoscaling.alibabacloud.com';
const HPAS = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';

interface Sized {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly replicas?: number; readonly minReplicas?: number; readonly maxReplicas?: number };
}

describe('Cron-HPA, installed by the manifests on a real API server', function () {
  this.timeout(600_000);

  let installed: InstalledAutoscaler;
  let replica: SpawnedProgram | undefined;

  before(async function () {
    installed = await InstalledAutoscaler.start(await needControllers(this), undefined, (cluster) =>
      cluster.apply(ALIBABA_DEFINITION),
    );
    await installed.run('apply', '-k', 'manifests/components/cron-hpa-alibaba');
  });

  after(() => installed?.[Symbol.asyncDispose]());

  it('explains every field to kubectl', async () => {
    const explain = () => installed.run('explain', 'cronhpa', '--recursive').catch(() => '');
    await until(async () => (await explain()).includes('scaleTargetRef'), 'the API server tells of the kind');
    const text = await explain();
    for (const field of ['scaleTargetRef', 'schedule', 'timeZone', 'excludeDates', 'scaleUpKeepWindow'])
      expect(text).to.include(field);
    for (const path of fieldsOf(await schema())) {
      const reported = await installed.run('explain', `cronhpa.${path}`);
      expect(reported, path)
        .to.match(/DESCRIPTION:\s+\S/)
        .and.not.to.include('<empty>');
    }
  });

  it('scales a Deployment and an HPA by their schedules', async () => {
    await start();
    const atMs = Date.now() + 8_000;
    await installed.apply(
      deployment('web', 1),
      deployment('api', 1),
      horizontalPodAutoscaler('api', 1, 2),
      cronHpa('web', [
        { size: 3, atMs },
        { size: 2, atMs: atMs + 8_000 },
      ]),
      cronHpa('api', [{ size: 4, atMs }]),
    );
    await until(async () => (await sized(`${DEPLOYMENTS}/web`)).spec.replicas === 3, 'web has 3 replicas');
    await until(async () => (await sized(`${HPAS}/api`)).spec.minReplicas === 4, 'the HPA has minReplicas 4');
    await until(async () => (await sized(`${DEPLOYMENTS}/api`)).spec.replicas === 4, 'api has 4 replicas');
    await until(async () => (await sized(`${DEPLOYMENTS}/web`)).spec.replicas === 2, 'web has 2 replicas');
  });

  it('shows target, next activation and last result in kubectl get', async () => {
    await until(async () => /Succeed to-2/.test(await installed.run('get', 'cronhpa', 'web')), 'it is told');
    const [head = '', line = ''] = (await installed.run('get', 'cronhpa', 'web')).trim().split('\n');
    expect(head.trim().split(/\s{2,}/)).to.deep.equal(
      'NAME KIND TARGET NEXT LAST RESULT READY AGE'.split(' '),
    );
    expect(line).to.match(/^web\s+Deployment\s+web\s.*Succeed to-2\s+True\s/);
  });

  it('holds the size of a target with an HPA, and restores the HPA when the object is deleted', async () => {
    const held = cronHpa('held', [{ size: 2, atMs: Date.now() + 6_000 }]);
    const annotations = { 'platform.stke/adjust-hpa-min': 'hold' };
    await installed.apply(deployment('held', 1), horizontalPodAutoscaler('held', 1, 4), {
      ...held,
      metadata: { ...held.metadata, annotations },
    });
    const bounds = async () => {
      const { minReplicas, maxReplicas } = (await sized(`${HPAS}/held`)).spec;
      return `${minReplicas} to ${maxReplicas}`;
    };
    await until(async () => (await bounds()) === '2 to 2', 'the HPA holds 2 replicas');
    await until(async () => (await sized(`${DEPLOYMENTS}/held`)).spec.replicas === 2, 'held has 2 replicas');
    await installed.run('delete', 'cronhorizontalpodautoscalers.autoscaling.stke.com', 'held');
    await until(async () => (await bounds()) === '1 to 4', 'the HPA is restored');
  });

  it('scales by objects of kubernetes-cronhpa-controller, and writes the status in their form', async () => {
    const atMs = Date.now() + 8_000;
    const date = new Date(atMs).toISOString().slice(0, 19).replace('T', ' ');
    const jobs = [
      { name: 'to-3', schedule: `@date ${date}`, targetSize: 3 },
      { name: 'to-5', schedule: scheduleAt(atMs + 4_000), targetSize: 5, runOnce: true },
    ];
    await installed.apply(deployment('old', 1), horizontalPodAutoscaler('old', 1, 4), {
      apiVersion: 'autoscaling.alibabacloud.com/v1beta1',
      kind: 'CronHorizontalPodAutoscaler',
      metadata: { name: 'old', namespace: 'default' },
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'old' }, jobs },
    });
    await until(async () => (await sized(`${HPAS}/old`)).spec.minReplicas === 3, 'the HPA has minReplicas 3');
    await until(async () => (await sized(`${HPAS}/old`)).spec.minReplicas === 5, 'the HPA has minReplicas 5');
    const states = async () =>
      (await installed.run('get', ALIBABA, 'old', '--output=jsonpath={.status.conditions[*].state}')).trim();
    await until(async () => (await states()) === 'Succeed Succeed', 'both jobs are reported');
    await installed.run('delete', ALIBABA, 'old');
    await until(async () => (await sized(`${HPAS}/old`)).spec.minReplicas === 1, 'the HPA is restored');
  });

  it('emits events', async () => {
    const reported = await installed.run('get', 'events', '--field-selector=reason=Scaled', '--output=name');
    expect(reported.trim().split('\n')).to.have.length.at.least(3);
  });

  it('uses its permissions, and needs no other', async () => {
    await replica?.[Symbol.asyncDispose](); // a watch is logged when it ends
    const reported = async () =>
      (await installed.controlPlane.auditEvents()).filter(({ user }) => user === ACCOUNT);
    const isWatch = ({ verb, resource }: { readonly verb: string; readonly resource: string }) =>
      verb === 'watch' && resource.startsWith('cronhorizontalpodautoscalers.');
    await until(async () => (await reported()).some(isWatch), 'the watch has ended');
    const events = await reported();
    expect(events.filter(({ status }) => status === 401 || status === 403)).to.deep.equal([]);
    const used = new Set(events.map(({ verb, resource }) => `${verb} ${resource}`));
    expect([...used]).to.include.members([
      'list cronhorizontalpodautoscalers.autoscaling.stke.com',
      'watch cronhorizontalpodautoscalers.autoscaling.stke.com',
      'patch cronhorizontalpodautoscalers/status.autoscaling.stke.com',
      'list cronhorizontalpodautoscalers.autoscaling.alibabacloud.com',
      'patch cronhorizontalpodautoscalers.autoscaling.alibabacloud.com',
      'list horizontalpodautoscalers.autoscaling',
      'patch horizontalpodautoscalers.autoscaling',
      'get deployments/scale.apps',
      'update deployments/scale.apps',
      'get leases.coordination.k8s.io',
      'create leases.coordination.k8s.io',
      'update leases.coordination.k8s.io',
    ]);
  });

  async function start(): Promise<void> {
    replica = await installed.startReplica(['--alibaba-cron-hpas']);
    await replica.line(/Serving/, 60_000);
  }

  async function sized(path: string): Promise<Sized> {
    return await installed.controlPlane.client.get<Sized>(path);
  }

  async function until(condition: () => Promise<boolean>, what: string): Promise<void> {
    const deadlineMs = Date.now() + 120_000;
    while (!(await condition())) {
      if (Date.now() > deadlineMs)
        throw new Error(`Never true: ${what}\n${replica?.output.slice(-10).join('\n')}`);
      await sleep(200);
    }
  }

  async function schema(): Promise<Schema> {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const name = 'cronhorizontalpodautoscalers.autoscaling.stke.com';
    const { spec } = await installed.controlPlane.client.get<Definition>(`${path}/${name}`);
    return spec.versions[0]?.schema.openAPIV3Schema ?? {};
  }
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Definition {
  readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[] };
}

/** Paths of all fields of `spec` and `status`, in the form that `kubectl explain` accepts. */
function fieldsOf(schema: Schema): readonly string[] {
  const below = ({ properties, items }: Schema, path: string): readonly string[] => [
    ...Object.entries(properties ?? {}).flatMap(([name, field]) => [
      `${path}.${name}`,
      ...below(field, `${path}.${name}`),
    ]),
    ...(items ? below(items, path) : []),
  ];
  return ['spec', 'status'].flatMap((name) => [name, ...below(schema.properties?.[name] ?? {}, name)]);
}
