import { expect } from 'chai';
import type { PlainClient } from '#spec/support/plain-client.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';
import { WIDGETS } from '#spec/support/widget-definition.ts';

const WIDGET_PATH = '/apis/example.com/v1/namespaces/default/widgets';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';

const widget = (name: string, spec: object) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec,
});

describe('patchObject', () => {
  let server: SimulatedApiServer;
  let client: PlainClient;

  before(async () => {
    server = await startSimulatedApiServer({ definitions: [WIDGETS] });
    ({ client } = server);
  });
  after(() => server[Symbol.asyncDispose]());

  it('checks the version of a patched object before its UID, which is immutable', async () => {
    await client.post(WIDGET_PATH, widget('known', { colour: 'red' }));
    const other = { metadata: { uid: 'other' } };
    const { status, body } = await client.patch(`${WIDGET_PATH}/known`, 'merge', other);
    expect([status, body.details.causes[0].field]).to.deep.equal([422, 'metadata.uid']);
    const older = { metadata: { ...other.metadata, resourceVersion: '1' } };
    expect((await client.patch(`${WIDGET_PATH}/known`, 'merge', older)).status).to.equal(409);
  });

  it('treats an empty text in an applied custom resource as null in Kubernetes 1.20', async () => {
    const applied = { ...widget('empty', { colour: 'red', tags: [''] }), status: { selector: '' } };
    const path = `${WIDGET_PATH}/empty`;
    expect((await client.apply(path, applied, { manager: 'spec' })).status).to.equal(201);
    expect((await client.apply(`${path}/status`, applied, { manager: 'spec' })).status).to.equal(200);
    const scenario = { kubernetesMinor: 20 };
    await using old = await startSimulatedApiServer({ definitions: [WIDGETS], scenario });
    await old.client.post(WIDGET_PATH, widget('empty', { colour: 'red' }));
    const { status, body } = await old.client.apply(`${path}/status`, applied, { manager: 'spec' });
    expect([status, body.details.causes[0].field]).to.deep.equal([422, 'status.selector']);
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'empty' }, data: { a: '' } };
    const configPath = '/api/v1/namespaces/default/configmaps/empty';
    expect((await old.client.apply(configPath, config, { manager: 'spec' })).body.data).to.deep.equal({
      a: '',
    });
  });

  it('merges lists of built-in types by their keys', async () => {
    const labels = { app: 'web' };
    const containers = [
      { name: 'main', image: 'a' },
      { name: 'side', image: 'b' },
    ];
    await client.post(DEPLOYMENTS, {
      metadata: { name: 'web' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
    });
    const patch = { spec: { template: { spec: { containers: [{ name: 'side', image: 'c' }] } } } };
    const { body } = await client.patch(`${DEPLOYMENTS}/web`, 'strategic', patch);
    expect(
      body.spec.template.spec.containers.map(({ name, image }: { name: string; image: string }) => [
        name,
        image,
      ]),
    ).to.deep.equal([
      ['main', 'a'],
      ['side', 'c'],
    ]);
  });

  it('creates an applied object with managedFields', async () => {
    const path = `${WIDGET_PATH}/applied`;
    const { status, body } = await client.apply(path, widget('applied', { colour: 'red', tags: ['x'] }), {
      manager: 'one',
    });
    expect(status).to.equal(201);
    expect(body.metadata.managedFields).to.deep.equal([
      {
        manager: 'one',
        operation: 'Apply',
        apiVersion: 'example.com/v1',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:colour': {}, 'f:tags': { 'v:"x"': {} } } },
      },
    ]);
    const again = await client.apply(path, widget('applied', { colour: 'red', tags: ['x'] }), {
      manager: 'one',
    });
    expect(again.status).to.equal(200);
    expect(again.body.metadata.resourceVersion).to.equal(body.metadata.resourceVersion);
  });

  it('refuses to take over fields of other managers unless forced', async () => {
    const path = `${WIDGET_PATH}/fought`;
    await client.apply(path, widget('fought', { colour: 'red', replicas: 2 }), { manager: 'one' });
    await client.patch(`${path}?fieldManager=two`, 'merge', { spec: { replicas: 5 } });
    const { status, body } = await client.apply(path, widget('fought', { colour: 'red', replicas: 2 }), {
      manager: 'one',
    });
    expect(status).to.equal(409);
    expect(body).to.deep.include({
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "two" using example.com/v1: .spec.replicas',
      details: {
        causes: [
          {
            reason: 'FieldManagerConflict',
            message: 'conflict with "two" using example.com/v1',
            field: '.spec.replicas',
          },
        ],
      },
    });
    const forced = await client.apply(path, widget('fought', { colour: 'red', replicas: 2 }), {
      manager: 'one',
      force: true,
    });
    expect(forced.body.spec.replicas).to.equal(2);
    expect(forced.body.metadata.managedFields).to.have.length(1);
  });

  it('removes fields that a manager no longer applies, except those of other managers', async () => {
    const path = `${WIDGET_PATH}/shared`;
    const parts = (...names: string[]) => names.map((name) => ({ name }));
    await client.apply(path, widget('shared', { colour: 'red', note: 'mine', parts: parts('a', 'b') }), {
      manager: 'one',
    });
    await client.apply(path, widget('shared', { colour: 'red', parts: parts('b', 'c') }), { manager: 'two' });
    const { body } = await client.apply(path, widget('shared', { colour: 'red' }), { manager: 'one' });
    expect(body.spec).not.to.have.property('note');
    expect(body.spec.parts.map(({ name }: { name: string }) => name)).to.deep.equal(['b', 'c']);
  });

  it('applies a status by itself', async () => {
    const path = `${WIDGET_PATH}/judged`;
    await client.post(WIDGET_PATH, widget('judged', { colour: 'red' }));
    const status = { conditions: [{ type: 'Ready', status: 'True' }] };
    const { body } = await client.apply(
      `${path}/status`,
      { ...widget('judged', { colour: 'blue' }), status },
      { manager: 'controller' },
    );
    expect(body.status).to.deep.equal(status);
    expect(body.spec.colour).to.equal('red');
    const owner = body.metadata.managedFields.find(
      ({ manager }: { manager: string }) => manager === 'controller',
    );
    expect(owner).to.deep.include({ operation: 'Apply', subresource: 'status' });
    const other = { conditions: [{ type: 'Known', status: 'False' }] };
    const { body: both } = await client.apply(
      `${path}/status`,
      { ...widget('judged', {}), status: other },
      { manager: 'another' },
    );
    expect(both.status.conditions.map(({ type }: { type: string }) => type)).to.deep.equal([
      'Ready',
      'Known',
    ]);
  });
});
