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

  it('are discovered with their names and parts', async () => {
    const { body } = await client.get('/apis/example.com/v1');
    expect(body.resources.map(({ name }: { name: string }) => name)).to.deep.equal([
      'widgets',
      'widgets/scale',
      'widgets/status',
    ]);
    expect(body.resources[0]).to.deep.include({
      shortNames: ['wd'],
      categories: ['all'],
      singularName: 'widget',
    });
  });

  it('get defaults and lose what nobody knows', async () => {
    const spec = { colour: 'red', nope: 1, parts: [{ name: 'a', nope: 2 }], anything: { goes: true } };
    const { body } = await client.post(WIDGET_PATH, widget('a', spec));
    expect(body.spec).to.deep.equal({
      colour: 'red',
      replicas: 1,
      parts: [{ name: 'a', weight: 7 }],
      anything: { goes: true },
    });
  });

  for (const [what, spec, message] of [
    ['a missing field', {}, 'spec.colour: Required value'],
    [
      'a value of the wrong type',
      { colour: 'red', replicas: 'x' },
      'spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"',
    ],
    [
      'a value that is none of those allowed',
      { colour: 'green' },
      'spec.colour: Unsupported value: "green": supported values: "red", "blue"',
    ],
    [
      'too little',
      { colour: 'red', replicas: -1 },
      'spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0',
    ],
    [
      'too much',
      { colour: 'red', replicas: 11 },
      'spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10',
    ],
    [
      'a text that does not match',
      { colour: 'red', note: 'A' },
      'spec.note: Invalid value: "A": spec.note in body should match \'^[a-z ]*$\'',
    ],
    [
      'too many items',
      { colour: 'red', parts: ['a', 'b', 'c', 'd'].map((name) => ({ name })) },
      'spec.parts: Too many: 4: must have at most 3 items',
    ],
    [
      'an item twice',
      { colour: 'red', parts: [{ name: 'a' }, { name: 'a' }] },
      'spec.parts[1]: Duplicate value: {"name":"a"}',
    ],
    [
      'several of these',
      { replicas: 11 },
      '[spec.colour: Required value, spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10]',
    ],
  ] as const) {
    it(`are refused with ${what}`, async () => {
      const { status, body } = await client.post(WIDGET_PATH, widget('bad', spec));
      expect(status).to.equal(422);
      expect(body.message).to.equal(`Widget.example.com "bad" is invalid: ${message}`);
      expect(body.details).to.deep.include({ name: 'bad', group: 'example.com', kind: 'Widget' });
    });
  }

  it('take numbers and texts where either may be, and nulls where these may be', async () => {
    for (const [name, size] of [
      ['n', 1],
      ['t', '10%'],
    ] as const) {
      const { status } = await client.post(WIDGET_PATH, widget(name, { colour: 'red', size, note: null }));
      expect(status).to.equal(201);
    }
    expect((await client.post(WIDGET_PATH, widget('b', { colour: 'red', size: true }))).status).to.equal(422);
    const { body } = await client.post(WIDGET_PATH, widget('c', { colour: 'red', replicas: null }));
    expect(body.spec.replicas).to.equal(1);
  });

  it('show their printer columns', async () => {
    await client.post(WIDGET_PATH, widget('a', { colour: 'red' }));
    await client.patch(`${WIDGET_PATH}/a/status`, 'merge', {
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
    const { body } = await client.get(WIDGET_PATH, 'application/json;as=Table;g=meta.k8s.io;v=v1');
    expect(body.columnDefinitions.map(({ name }: { name: string }) => name)).to.deep.equal([
      'Name',
      'Colour',
      'Ready',
      'Age',
    ]);
    expect(body.rows[0].cells).to.deep.equal(['a', 'red', 'True', '0s']);
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
    expect((await client.get('/apis/example.com')).body.preferredVersion.version).to.equal('v2');
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

  for (const [what, change, message] of [
    [
      'another name than its own',
      { metadata: { name: 'gadgets.example.com' } },
      /metadata.name: Invalid value: "gadgets.example.com": must be spec.names.plural\+"."\+spec.group/,
    ],
    [
      'no version to store',
      { spec: { ...(WIDGETS.spec as object), versions: [] } },
      /must have exactly one version marked as storage version/,
    ],
    [
      'a schema that is not structural',
      { spec: withSchema({ type: 'object', properties: { spec: { properties: {} } } }) },
      /openAPIV3Schema.properties\[spec\].type: Required value: must not be empty for specified object fields$/,
    ],
    [
      'a pattern that is none',
      { spec: withSchema({ type: 'object', properties: { spec: { type: 'string', pattern: '(' } } }) },
      /pattern: Invalid value: "\(": must be a valid regular expression$/,
    ],
    [
      'no schema',
      { spec: withSchema(undefined) },
      /versions\[0\].schema.openAPIV3Schema: Required value: schemas are required$/,
    ],
  ] as const) {
    it(`refuse a definition with ${what}`, async () => {
      const { status, body } = await client.post(DEFINITIONS, { ...WIDGETS, ...change });
      expect(body.message).to.match(message);
      expect(status).to.equal(422);
    });
  }
});

function withSchema(openAPIV3Schema: object | undefined) {
  const spec = WIDGETS.spec as { readonly versions: readonly object[] };
  const schema = openAPIV3Schema === undefined ? {} : { openAPIV3Schema };
  return { ...spec, versions: [{ ...spec.versions[0], schema }] };
}
