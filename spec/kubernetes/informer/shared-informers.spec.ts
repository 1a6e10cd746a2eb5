import { expect } from 'chai';
import {
  type InformedKind,
  type SharedInformer,
  SharedInformers,
} from '#lib/kubernetes/informer/shared-informers.ts';
import { keyOf, propertyOf, readObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { type ApiFault, forRequests, refuseRequests } from '#simulator/api-server/faults.ts';
import { eventually } from '#spec/support/eventually.ts';
import { type SimulatedApi, startSimulatedApi, WIDGETS } from '#spec/support/simulated-api.ts';

interface CachedWidget {
  readonly key: string;
  readonly version: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Users request fields of the spec, by name. */
function widgetKind(versions: readonly string[] = ['v1']): InformedKind<CachedWidget, readonly string[]> {
  return {
    resource: { group: WIDGETS.group, kind: 'Widget', plural: 'widgets', namespaced: true },
    versions,
    decoder: (needs, version) => (value) => {
      const spec = propertyOf(value, 'spec');
      const fields = [...new Set(needs.flat())].map((name) => [name, propertyOf(spec, name)]);
      return { key: keyOf(readObject(value).metadata), version, fields: Object.fromEntries(fields) };
    },
  };
}

const KIND = widgetKind();
const LIST = { resource: 'widgets', verb: 'list' };
const WATCH = { resource: 'widgets', verb: 'watch' };
const FORBIDDEN = refuseRequests({ code: 403, reason: 'Forbidden' });
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

describe('SharedInformers', () => {
  let api: SimulatedApi;
  let informers: SharedInformers;
  let requests: string[];
  let faults: ApiFault[];

  beforeEach(async () => {
    api = await startSimulatedApi();
    informers = new SharedInformers({ ...api, client: api.api });
    requests = [];
    setFaults();
  });

  afterEach(async () => {
    await informers[Symbol.asyncDispose]();
    await api[Symbol.asyncDispose]();
    expect(api.clock.sleeperCount).to.equal(0);
  });

  it('lists and watches a resource once, however many use it, with the fields of all', async () => {
    const [sizes, colours] = [
      informers.get(KIND, { needs: ['size'] }),
      informers.get(KIND, { needs: ['colour'] }),
    ];
    await create('a', { size: 1, colour: 'red', secret: 'x' });
    sizes.start();
    colours.start();
    await Promise.all([sizes.synced(), colours.synced()]);
    expect(sizes.find('default/a')?.fields).to.deep.equal({ size: 1, colour: 'red' });
    await eventually(() => sizes.state === 'watching');
    await create('b', { size: 2 });
    await eventually(() => colours.size === 2);
    expect([...colours.values()].map(({ key }) => key)).to.deep.equal(['default/a', 'default/b']);
    expect(requests).to.deep.equal(['list', 'watch']);
    const tooLate = () => informers.get(KIND, { needs: ['weight'] });
    expect(tooLate).to.throw('Cannot add user of widgets: the informer is running');
  });

  it('refuses a second kind of one resource', () => {
    informers.get(KIND, { needs: [] });
    expect(() => informers.get(widgetKind(), { needs: [] })).to.throw(
      'Cannot cache widgets.spec.example.com: already cached as another kind',
    );
  });

  it('has an informer for each scope, so that none needs more permission than its user', async () => {
    const [all, some] = [
      informers.get(KIND, { needs: ['size'] }),
      informers.get(KIND, { needs: [], namespaces: ['default', 'shop', 'default'] }),
    ];
    await create('a', { size: 1 });
    await create('b', { size: 2 }, 'other');
    await create('c', { size: 3 }, 'shop');
    some.start();
    await some.synced();
    expect([...some.values()]).to.deep.equal([
      { key: 'default/a', version: 'v1', fields: {} },
      { key: 'shop/c', version: 'v1', fields: {} },
    ]);
    expect(some.find('other/b')).to.equal(undefined);
    expect([all.state, all.isSynced, all.size]).to.deep.equal(['idle', false, 0]);
    all.start();
    await all.synced();
    expect(all.find('other/b')?.fields).to.deep.equal({ size: 2 });
    expect(some.find('shop/c')?.fields).to.deep.equal({});
  });

  for (const others of [0, 1])
    it(`shows each user its own view, beside ${others} users of whole objects`, async () => {
      for (let user = 0; user < others; user++) informers.get(KIND, { needs: [] });
      const sizeOf = ({ fields }: CachedWidget) => fields.size;
      const large = informers.get(KIND, {
        needs: ['size', 'colour'],
        view: (widget) => (Number(sizeOf(widget)) >= 5 ? { size: sizeOf(widget) } : undefined),
        indexes: { size: ({ size }) => [`${size}`] },
      });
      const red = informers.get(KIND, {
        needs: [],
        view: (widget) => (widget.fields.colour === 'red' ? widget.key : undefined),
      });
      const [observed, reds]: [unknown[], string[]] = [[], []];
      large.onChange(({ previous, current }) => observed.push([previous?.size, current?.size]));
      const leave = red.onChange(({ key, current }) => reds.push(`${key} ${current !== undefined}`));
      large.start();
      await large.synced();
      await eventually(() => large.state === 'watching');
      await create('a', { size: 9, colour: 'blue' });
      await create('b', { size: 1, colour: 'red' });
      await create('c', { size: 1, colour: 'blue' });
      await change('a', { size: 9, colour: 'green' });
      await change('a', { size: 8, colour: 'red' });
      await change('a', { size: 3, colour: 'red' });
      await eventually(() => large.size === 0 && red.find('default/a') !== undefined);
      expect(observed).to.deep.equal([
        [undefined, 9],
        [9, 8],
        [8, undefined],
      ]);
      expect(reds).to.deep.equal(['default/b true', 'default/a true']);
      expect(large.findBy('size', '1')).to.deep.equal([]);
      expect(() => large.findBy('colour', 'red')).to.throw('Cannot look up "red": index colour');
      await change('b', { size: 6, colour: 'red' });
      await eventually(() => large.findBy('size', '6').length === 1);
      leave();
      const replayed: unknown[] = [];
      red.onChange(({ key, current }) => replayed.push([key, current]), { replay: true });
      expect(replayed).to.deep.equal([
        ['default/a', 'default/a'],
        ['default/b', 'default/b'],
      ]);
      expect(reds).to.have.lengthOf(2);
    });

  it('waits for a kind that is served later', async () => {
    await api.api.requestJson({ method: 'DELETE', path: `${DEFINITIONS}/widgets.spec.example.com` });
    const widgets = informers.get(KIND, { needs: [] });
    widgets.start();
    await passes(() => widgets.state === 'waiting' && messages().length > 0);
    expect(messages()).to.deep.equal(['Waiting for a kind that the API server does not serve']);
    await define('v1');
    await passes(() => widgets.isSynced);
    expect((await widgets.served(new AbortController().signal)).version).to.equal('v1');
    expect(messages().at(-1)).to.equal('The API server serves the kind now');
  });

  it('waits for permission to list, and keeps cached objects when that is revoked', async () => {
    setFaults(forRequests(LIST, FORBIDDEN));
    await create('a', {});
    const widgets = informers.get(KIND, { needs: [] });
    widgets.start();
    await passes(() => widgets.state === 'forbidden');
    expect(widgets.isSynced).to.equal(false);
    setFaults();
    await passes(() => widgets.state === 'watching');
    expect(widgets.size).to.equal(1);
  });

  it('lists again and again what may not be watched, as often as the most impatient user needs', async () => {
    setFaults(forRequests(WATCH, FORBIDDEN));
    const widgets = informers.get(KIND, { needs: [], relistMs: 60_000 });
    informers.get(KIND, { needs: [], relistMs: 20_000 });
    widgets.start();
    await eventually(() => widgets.state === 'polling');
    await create('a', {});
    await api.clock.advance(19_000);
    expect(widgets.size).to.equal(0);
    await api.clock.advance(1_000);
    await eventually(() => widgets.size === 1);
    setFaults();
    await api.clock.advance(20_000);
    await eventually(() => widgets.state === 'watching');
  });

  it('uses the preferred version that is served, and chooses again when that is removed', async () => {
    const kind = widgetKind(['v2', 'v1']);
    const widgets = informers.get(kind, { needs: [] });
    await create('a', {});
    widgets.start();
    await widgets.synced();
    expect(widgets.find('default/a')?.version).to.equal('v1');
    await eventually(() => widgets.state === 'watching');
    await api.api.requestJson({ method: 'DELETE', path: `${DEFINITIONS}/widgets.spec.example.com` });
    await define('v2');
    await create('b', {}, 'default', 'v2');
    await api.cluster.apiServer.stop(); // ends watches, as removing the version does
    await api.cluster.apiServer.start();
    await passes(() => widgets.find('default/b')?.version === 'v2');
    expect(widgets.find('default/a')).to.equal(undefined);
    expect((await widgets.served(new AbortController().signal)).version).to.equal('v2');
  });

  it('lets a waiting caller abort, and rejects waiting callers when it is disposed', async () => {
    await api.api.requestJson({ method: 'DELETE', path: `${DEFINITIONS}/widgets.spec.example.com` });
    const widgets: SharedInformer<CachedWidget> = informers.get(KIND, { needs: [] });
    const enough = AbortSignal.abort(new Error('enough'));
    expect(await widgets.served(enough).catch(String)).to.equal('Error: enough');
    expect(await widgets.synced(enough).catch(String)).to.equal('Error: enough');
    const [served, synced] = [widgets.served(new AbortController().signal), widgets.synced()];
    const ended = Promise.all([served, synced].map((one) => one.catch(String)));
    await informers[Symbol.asyncDispose]();
    expect(await ended).to.deep.equal(['Error: informers are closed', 'Error: informer is closed']);
  });

  function setFaults(...more: readonly ApiFault[]): void {
    const record: ApiFault = {
      serve: ({ verb, target }, { next }) => {
        if (target.isResource && target.resource === 'widgets' && ['list', 'watch'].includes(verb))
          requests.push(verb);
        return next();
      },
    };
    faults = [record, ...more];
    api.cluster.apiServer.setFaults(...faults);
  }

  async function define(version: string): Promise<void> {
    const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    await api.api.postJson(DEFINITIONS, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.spec.example.com' },
      spec: {
        group: WIDGETS.group,
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
        versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: anything } }],
      },
    });
  }

  async function create(name: string, spec: object, namespace = 'default', version = 'v1'): Promise<void> {
    if (namespace !== 'default')
      await api.api.postJson('/api/v1/namespaces', {
        ...{ apiVersion: 'v1', kind: 'Namespace' },
        metadata: { name: namespace },
      });
    const apiVersion = `${WIDGETS.group}/${version}`;
    const path = `/apis/${apiVersion}/namespaces/${namespace}/widgets`;
    await api.api.postJson(path, { apiVersion, kind: 'Widget', metadata: { name }, spec });
  }

  async function change(name: string, spec: object): Promise<void> {
    await api.widgets.patch({ namespace: 'default', name }, { type: 'merge', body: { spec } });
  }

  function messages(): readonly string[] {
    return api.logger.lines.map(({ message }) => message);
  }

  async function passes(condition: () => boolean): Promise<void> {
    await eventually(async () => {
      await api.clock.advance(1_000);
      return condition();
    });
  }
});
