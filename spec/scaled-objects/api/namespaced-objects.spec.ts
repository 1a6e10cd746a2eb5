import { expect } from 'chai';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { NamespacedObjects } from '#lib/scaled-objects/api/namespaced-objects.ts';
import { eventually } from '#spec/support/eventually.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const CONFIG_MAPS = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const NAMESPACES = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };

describe('NamespacedObjects', () => {
  it('follows each of its namespaces once, and no other', async () => {
    await using server = await startSimulatedApiServer();
    await create(server, 'default', 'a', 'red');
    await create(server, 'kube-public', 'b', 'red');
    await create(server, 'kube-system', 'c', 'red');
    await using followed = await follow(server, ['default', 'kube-public', 'default']);
    const { objects } = followed;
    expect([...objects.values()].map(nameOf).sort()).to.deep.equal(['a', 'b']);
    expect(nameOf(objects.find('kube-public/b'))).to.equal('b');
    expect(objects.find('kube-system/c')).to.equal(undefined);
    expect(objects.findBy('color', 'red').map(nameOf).sort()).to.deep.equal(['a', 'b']);
  });

  it('follows all namespaces where none is named', async () => {
    await using server = await startSimulatedApiServer();
    await create(server, 'default', 'a', 'red');
    await create(server, 'kube-system', 'c', 'blue');
    await using followed = await follow(server, []);
    expect(followed.objects.findBy('color', 'blue').map(nameOf)).to.deep.equal(['c']);
    expect(nameOf(followed.objects.find('default/a'))).to.equal('a');
  });

  it('follows what is in no namespace, though some are named', async () => {
    await using server = await startSimulatedApiServer();
    await using followed = await follow(server, ['default', 'kube-public'], NAMESPACES);
    const names = [...followed.objects.values()].map(nameOf);
    expect(names).to.include('kube-system');
    expect(new Set(names).size).to.equal(names.length);
  });

  it('tells of changes in each of its namespaces, until one leaves', async () => {
    await using server = await startSimulatedApiServer();
    await create(server, 'default', 'a', 'red');
    await using followed = await follow(server, ['default', 'kube-public']);
    const told: string[] = [];
    const leave = followed.objects.onChange(({ key }) => told.push(key), { replay: true });
    await create(server, 'kube-public', 'b', 'red');
    await eventually(() => told.includes('kube-public/b'));
    expect(told).to.deep.equal(['default/a', 'kube-public/b']);
    leave();
    await create(server, 'default', 'd', 'red');
    await eventually(() => followed.objects.find('default/d') !== undefined);
    expect(told).to.deep.equal(['default/a', 'kube-public/b']);
  });
});

async function follow(
  { access, clock }: SimulatedApiServer,
  namespaces: readonly string[],
  resource = CONFIG_MAPS,
) {
  await using starting = new AsyncDisposableStack();
  const api = { access: await access(), clock, userAgent: 'spec/1' };
  const client = starting.use(new ApiClient(api));
  const transform = (value: unknown) => value as KubernetesObject & { readonly data?: { color?: string } };
  const indexes = { color: ({ data }: ReturnType<typeof transform>) => [data?.color ?? ''] };
  const objects = starting.use(
    new NamespacedObjects(
      { resource, transform, indexes },
      { client, clock, logger: new RecordingLogger(), namespaces },
    ),
  );
  expect(objects.isSynced).to.equal(false);
  objects.start();
  await objects.synced();
  expect(objects.isSynced).to.equal(true);
  const stack = starting.move();
  return { objects, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function create({ client }: SimulatedApiServer, namespace: string, name: string, color: string) {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { color } };
  const { status } = await client.post(`/api/v1/namespaces/${namespace}/configmaps`, body);
  expect(status).to.equal(201);
}

function nameOf(object: KubernetesObject | undefined): string | undefined {
  return object?.metadata.name;
}
