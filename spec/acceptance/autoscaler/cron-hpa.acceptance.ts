import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { needControllers } from '../control-plane/need-binaries.ts';
import { InstalledAutoscaler } from './installed-autoscaler.ts';
import { cronHpa, deployment, horizontalPodAutoscaler } from './scheduled-objects.ts';

const ACTIVATIONS = 20;
/** As near together as a leader can be lost and replaced between two of them. */
const APART_MS = 5_000;
const SHORT_LEASE = [
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];
const ACCOUNT = 'system:serviceaccount:kube-system:autoscaler';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const HPAS = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
const CRON_HPAS = '/apis/autoscaling.stke.com/v1beta1/namespaces/default/cronhorizontalpodautoscalers';

interface Sized {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly replicas?: number; readonly minReplicas?: number };
}

interface CronHpas {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status?: { readonly lastResult?: string };
  }[];
}

describe('Cron-HPA, installed by the manifests on a real API server', function () {
  this.timeout(600_000);

  let installed: InstalledAutoscaler;
  const replicas = new Set<SpawnedProgram>();

  before(async function () {
    installed = await InstalledAutoscaler.start(await needControllers(this));
  });

  after(() => installed?.[Symbol.asyncDispose]());

  it('explains every field to kubectl', async () => {
    const explain = () => installed.run('explain', 'cronhpa', '--recursive').catch(() => '');
    await until(async () => (await explain()).includes('scaleTargetRef'), 'the API server tells of the kind');
    const text = await explain();
    for (const field of ['scaleTargetRef', 'schedule', 'timeZone', 'excludeDates', 'scaleUpKeepWindow'])
      expect(text).to.include(field);
    for (const path of fieldsOf(await schema())) {
      const told = await installed.run('explain', `cronhpa.${path}`);
      expect(told, path)
        .to.match(/DESCRIPTION:\s+\S/)
        .and.not.to.include('<empty>');
    }
  });

  it('has a Deployment and an HPA follow their schedules', async () => {
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

  it('tells of it by events', async () => {
    const told = await installed.run('get', 'events', '--field-selector=reason=Scaled', '--output=name');
    expect(told.trim().split('\n')).to.have.length.at.least(3);
  });

  it('loses and doubles none of 20 activations while its leader is killed again and again', async () => {
    for (const replica of replicas) await stop(replica);
    const names = Array.from({ length: ACTIVATIONS }, (_, index) => `night-${index + 1}`);
    await installed.apply(...names.map((name) => deployment(name, 0)));
    await Promise.all([start(SHORT_LEASE), start(SHORT_LEASE)]);
    const firstMs = Date.now() + 15_000;
    const dueMs = (index: number) => firstMs + index * APART_MS;
    await installed.apply(
      ...names.map((name, index) => cronHpa(name, [{ size: 1 + (index % 3), atMs: dueMs(index) }])),
    );

    const watching = takeBack(names);
    let kills = 0;
    for (let index = 0; index < names.length; index++) {
      const offsetMs = ((index * 37) % 400) - 200; // before it is due, as it is carried out, and just after
      await sleep(Math.max(0, dueMs(index) + offsetMs - Date.now()));
      const leader = await leaderOf();
      leader.kill('SIGKILL');
      await leader.ended;
      replicas.delete(leader);
      kills++;
      await start(SHORT_LEASE);
    }
    await watching;
    await leaderOf();
    await sleep(5_000); // time for the leader of now to do what it must not
    expect(kills).to.equal(ACTIVATIONS);

    const events = await installed.controlPlane.auditEvents();
    const writes = events.filter(
      ({ user, verb, resource, status }) =>
        user === ACCOUNT && verb === 'update' && resource === 'deployments/scale.apps' && status < 300,
    );
    for (const name of names) {
      expect(
        writes.filter((write) => write.name === name),
        name,
      ).to.have.length(1);
      expect((await sized(`${DEPLOYMENTS}/${name}`)).spec.replicas, name).to.equal(0);
    }
  });

  it('was refused nothing, and used what it was given to read, scale, tell and elect', async () => {
    const events = (await installed.controlPlane.auditEvents()).filter(({ user }) => user === ACCOUNT);
    expect(events.filter(({ status }) => status === 401 || status === 403)).to.deep.equal([]);
    const used = new Set(events.map(({ verb, resource }) => `${verb} ${resource}`));
    expect([...used]).to.include.members([
      'list cronhorizontalpodautoscalers.autoscaling.stke.com',
      'watch cronhorizontalpodautoscalers.autoscaling.stke.com',
      'patch cronhorizontalpodautoscalers/status.autoscaling.stke.com',
      'list horizontalpodautoscalers.autoscaling',
      'patch horizontalpodautoscalers.autoscaling',
      'get deployments/scale.apps',
      'update deployments/scale.apps',
      'get leases.coordination.k8s.io',
      'create leases.coordination.k8s.io',
      'update leases.coordination.k8s.io',
    ]);
  });

  async function start(flags: readonly string[] = []): Promise<void> {
    const replica = await installed.startReplica(flags);
    replicas.add(replica);
    await replica.line(/Serving/, 60_000);
  }

  async function stop(replica: SpawnedProgram): Promise<void> {
    replicas.delete(replica);
    await replica[Symbol.asyncDispose]();
  }

  /** The replica that acts, once there is one. */
  async function leaderOf(): Promise<SpawnedProgram> {
    const find = () => [...replicas].find(({ output }) => output.some((line) => /Elected leader/.test(line)));
    await until(async () => find() !== undefined, 'a replica leads');
    return find() as SpawnedProgram;
  }

  /** Takes each size back once it is told as set, so that setting it a second time shows; ends when all were set. */
  async function takeBack(names: readonly string[]): Promise<void> {
    const left = new Set(names);
    await until(async () => {
      const { items } = await installed.controlPlane.client.get<CronHpas>(CRON_HPAS);
      for (const { metadata, status } of items) {
        if (!status?.lastResult?.startsWith('Succeed') || !left.has(metadata.name)) continue;
        const path = `${DEPLOYMENTS}/${metadata.name}`;
        expect((await sized(path)).spec.replicas, metadata.name).to.be.above(0);
        await installed.controlPlane.client.patch(path, { spec: { replicas: 0 } });
        left.delete(metadata.name);
      }
      return left.size === 0;
    }, 'all activations were carried out');
  }

  async function sized(path: string): Promise<Sized> {
    return await installed.controlPlane.client.get<Sized>(path);
  }

  async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
    const deadlineMs = Date.now() + 120_000;
    while (!(await holds())) {
      if (Date.now() > deadlineMs) throw new Error(`Never true: ${what}\n${wordsOf(replicas)}`);
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

/** The paths of all fields below `spec` and `status`, as `kubectl explain` takes them. */
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

function wordsOf(programs: ReadonlySet<SpawnedProgram>): string {
  return [...programs].map(({ name, output }) => [name, ...output.slice(-10)].join('\n')).join('\n');
}
