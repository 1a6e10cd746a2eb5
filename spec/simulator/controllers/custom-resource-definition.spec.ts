import { expect } from 'chai';
import type { PlainClient } from '#spec/support/plain-client.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';
import { WIDGETS } from '#spec/support/widget-definition.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WIDGET_PATH = '/apis/example.com/v1/namespaces/default/widgets';

const widget = (name: string, spec: unknown) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec,
});

describe('CustomResources', () => {
  let server: SimulatedApiServer;
  let client: PlainClient;

  beforeEach(async () => {
    server = await startSimulatedApiServer({ definitions: [WIDGETS] });
    ({ client } = server);
  });
  afterEach(() => server[Symbol.asyncDispose]());

  it('accept a definition in its conditions', async () => {
    const { body } = await client.get(`${DEFINITIONS}/widgets.example.com`);
    expect(
      body.status.conditions.map(({ type, status }: { type: string; status: string }) => `${type}=${status}`),
    ).to.deep.equal(['NamesAccepted=True', 'Established=True']);
    expect(body.status.acceptedNames).to.deep.include({ singular: 'widget', listKind: 'WidgetList' });
    expect(body.status.storedVersions).to.deep.equal(['v1']);
  });

  it('are refused with all that is wrong with them', async () => {
    const { status, body } = await client.post(WIDGET_PATH, widget('bad', { replicas: 11 }));
    expect(status).to.equal(422);
    expect(body.message).to.equal(
      'Widget.example.com "bad" is invalid: [spec.colour: Required value, spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10]',
    );
    expect(body.details).to.deep.include({ name: 'bad', group: 'example.com', kind: 'Widget' });
  });

  it('are served in each version, and stored in one', async () => {
    const [v1] = (WIDGETS.spec as { versions: object[] }).versions;
    const versions = [
      { ...v1, name: 'v2' },
      { ...v1, storage: false },
    ];
    await client.patch(`${DEFINITIONS}/widgets.example.com`, 'merge', { spec: { versions } });
    await client.post(WIDGET_PATH, widget('a', { colour: 'red' }));
    expect(server.cluster.store.get('widgets.example.com', 'default', 'a')?.apiVersion).to.equal(
      'example.com/v2',
    );
    expect((await client.get(`${WIDGET_PATH}/a`)).body.apiVersion).to.equal('example.com/v1');
    const { body } = await client.get(WIDGET_PATH.replace('v1', 'v2'));
    expect(body).to.include({ kind: 'WidgetList', apiVersion: 'example.com/v2' });
    expect(body.items[0]).to.include({ kind: 'Widget', apiVersion: 'example.com/v2' });
    const { items } = (await client.get('/apis')).body;
    const group = items.find(
      ({ metadata }: { metadata: { name: string } }) => metadata.name === 'example.com',
    );
    expect(group.versions.map(({ version }: { version: string }) => version)).to.deep.equal(['v2', 'v1']);
    const { body: definition } = await client.get(`${DEFINITIONS}/widgets.example.com`);
    expect(definition.status.storedVersions).to.deep.equal(['v1', 'v2']);
  });

  it('go with their definition', async () => {
    await client.post(WIDGET_PATH, {
      ...widget('a', { colour: 'red' }),
      metadata: { name: 'a', finalizers: ['a.b/c'] },
    });
    await client.delete(`${DEFINITIONS}/widgets.example.com`);
    expect((await client.get(`${WIDGET_PATH}/a`)).body.metadata.deletionTimestamp).to.be.a('string');
    await client.patch(`${WIDGET_PATH}/a`, 'merge', { metadata: { finalizers: null } });
    expect((await client.get(`${DEFINITIONS}/widgets.example.com`)).status).to.equal(404);
    expect((await client.get(WIDGET_PATH)).status).to.equal(404);
  });
});
