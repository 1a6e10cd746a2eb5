import { expect } from 'chai';
import { currentTenant, runForTenant } from '#lib/concurrency/tenant.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { type JsonApi, type JsonResponse, refusal, startJsonApi } from '#spec/support/json-api.ts';

const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment' };

describe('RestMapper', () => {
  let stack: AsyncDisposableStack;
  let served: JsonApi;
  let responses: Record<string, JsonResponse>;
  let mapper: RestMapper;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    responses = { ...AGGREGATED };
    served = stack.use(await startJsonApi(({ url }) => responses[url.pathname] ?? refusal(404, 'NotFound')));
    mapper = new RestMapper({ api: served.api, clock: served.clock });
  });

  afterEach(async () => await stack.disposeAsync());

  const found = async (apiVersion: string, kind: string) => {
    const resource = await mapper.find({ apiVersion, kind });
    return resource && `${resource.group}/${resource.version} ${resource.plural}`;
  };

  it('sends discovery on behalf of no tenant', async () => {
    for (const discovery of [AGGREGATED, PLAIN]) {
      responses = { ...discovery };
      const tenants = new Set<string | undefined>();
      const api = {
        getJson: (...call: Parameters<JsonApi['api']['getJson']>) => {
          tenants.add(currentTenant());
          return served.api.getJson(...call);
        },
      } as JsonApi['api'];
      const { clock } = served;
      await runForTenant('greedy', () => new RestMapper({ api, clock }).find(DEPLOYMENT));
      expect([...tenants]).to.deep.equal([undefined]);
    }
  });

  for (const [what, discovery] of [
    ['aggregated', () => AGGREGATED],
    ['unaggregated', () => PLAIN],
  ] as const) {
    describe(`by ${what} discovery`, () => {
      beforeEach(() => {
        responses = { ...discovery() };
      });

      it('finds the resource of a kind with its scope and its subresources', async () => {
        expect(await mapper.find(DEPLOYMENT)).to.deep.equal({
          group: 'apps',
          version: 'v1',
          kind: 'Deployment',
          plural: 'deployments',
          namespaced: true,
          subresources: ['scale', 'status'],
        });
        expect(await mapper.find({ apiVersion: 'v1', kind: 'Node' })).to.deep.include({
          group: '',
          plural: 'nodes',
          namespaced: false,
        });
      });

      it('returns the given version, else the preferred one of its group', async () => {
        expect(await found('autoscaling/v2', 'HorizontalPodAutoscaler')).to.contain('autoscaling/v2 ');
        expect(await found('autoscaling/v1', 'HorizontalPodAutoscaler')).to.contain('autoscaling/v1 ');
        expect(await found('autoscaling/v2beta1', 'HorizontalPodAutoscaler')).to.contain('autoscaling/v2 ');
        const gone = { apiVersion: 'autoscaling/v2beta1', kind: 'HorizontalPodAutoscaler' };
        expect(await mapper.findExact(gone)).to.equal(undefined);
        expect(await mapper.findExact(DEPLOYMENT)).to.deep.include({ group: 'apps', plural: 'deployments' });
        const foreign = { ...DEPLOYMENT, apiVersion: 'autoscaling/v1' };
        expect(await mapper.findExact(foreign)).to.equal(undefined);
      });

      it('finds the kinds of extensions/v1beta1 where they went', async () => {
        expect(await found('extensions/v1beta1', 'Deployment')).to.equal('apps/v1 deployments');
        expect(await found('example.com/v1', 'Deployment')).to.equal(undefined);
      });
    });
  }

  it('sends one request for concurrent lookups, and none for later ones', async () => {
    await Promise.all([mapper.find(DEPLOYMENT), mapper.find(DEPLOYMENT)]);
    await mapper.find({ apiVersion: 'v1', kind: 'Node' });
    expect([...served.requested].sort()).to.deep.equal(['GET /api', 'GET /apis']);
    expect(served.server.requests[0]?.headers.accept).to.match(
      /v=v2;as=APIGroupDiscoveryList.*application\/json$/,
    );
  });

  it('sends another request for an unknown kind, at most every ten seconds', async () => {
    expect(await found('example.com/v1', 'Widget')).to.equal(undefined);
    expect(await found('example.com/v1', 'Widget')).to.equal(undefined);
    expect(served.requested).to.have.length(2);
    responses = { ...AGGREGATED, '/apis': withGroup('example.com', { freshness: 'Current' }) };
    await served.clock.advance(9_999);
    expect(await found('example.com/v1', 'Widget')).to.equal(undefined);
    expect(served.requested).to.have.length(2);
    await served.clock.advance(1);
    expect(await found('example.com/v1', 'Widget')).to.equal('example.com/v1 widgets');
    expect(served.requested).to.have.length(4);
  });

  it('sends another request after ten minutes, and uses the cached result while none succeeds', async () => {
    await mapper.find(DEPLOYMENT);
    await served.clock.advance(600_000);
    responses = { '/api': refusal(503, 'ServiceUnavailable'), '/apis': refusal(503, 'ServiceUnavailable') };
    expect(await found('apps/v1', 'Deployment')).to.equal('apps/v1 deployments');
    expect(served.requested).to.have.length(4);
  });

  it('throws for an unknown kind when discovery fails', async () => {
    responses = { '/apis': { kind: 'APIGroupList' }, '/api': { kind: 'APIVersions', versions: ['v1'] } };
    expect(await mapper.find(DEPLOYMENT).catch(describeError)).to.match(/^Cannot read discovery at \/apis/);
    responses = { ...AGGREGATED, '/apis': withGroup('example.com', { freshness: 'Stale', resources: [] }) };
    const missing = mapper.find({ apiVersion: 'example.com/v1', kind: 'Widget' });
    expect(await missing.catch(describeError)).to.equal(
      'Cannot find kind Widget in example.com/v1: the server of the group is not available',
    );
  });

  it('requests resources only when needed from a server that lists groups alone', async () => {
    responses = { ...PLAIN, '/apis/broken.example.com/v1': refusal(503, 'ServiceUnavailable') };
    expect(await found('apps/v1', 'Deployment')).to.equal('apps/v1 deployments');
    expect(served.requested.filter((path) => path.includes('broken'))).to.deep.equal([]);
    expect(
      await mapper.find({ apiVersion: 'broken.example.com/v1', kind: 'X' }).catch(describeError),
    ).to.contain('503');
  });

  it('requests the resources of a group again after a failure, and treats a removed one as empty', async () => {
    const widget = { apiVersion: 'broken.example.com/v1', kind: 'Widget' };
    responses = { ...PLAIN, '/apis/broken.example.com/v1': refusal(503, 'ServiceUnavailable') };
    expect(await mapper.find(widget).catch(describeError)).to.contain('503');
    const resources = [{ name: 'widgets', kind: 'Widget', namespaced: true }];
    responses = { ...PLAIN, '/apis/broken.example.com/v1': { kind: 'APIResourceList', resources } };
    expect(await mapper.find(widget)).to.include({ plural: 'widgets' });
    responses = { ...PLAIN };
    await served.clock.advance(600_000);
    expect(await mapper.find(widget)).to.equal(undefined);
  });

  it('lets one waiting caller abort, and the others get the result', async () => {
    const controller = new AbortController();
    const aborted = mapper.find(DEPLOYMENT, controller.signal).catch(describeError);
    const other = mapper.find(DEPLOYMENT);
    controller.abort(new Error('enough'));
    expect(await aborted).to.equal('enough');
    expect(await other).to.have.property('plural', 'deployments');
  });
});

function group(name: string, versions: readonly object[]): object {
  return { metadata: { name }, versions };
}

function version(
  name: string,
  kinds: readonly (readonly [plural: string, kind: string, ...subresources: string[]])[],
) {
  const resources = kinds.map(([resource, kind, ...subresources]) => ({
    resource,
    responseKind: { group: '', version: '', kind },
    scope: kind === 'Node' ? 'Cluster' : 'Namespaced',
    subresources: subresources.map((subresource) => ({ subresource })),
  }));
  return { version: name, freshness: 'Current', resources };
}

const GROUPS = [
  group('apps', [version('v1', [['deployments', 'Deployment', 'scale', 'status']])]),
  group('autoscaling', [
    version('v2', [['horizontalpodautoscalers', 'HorizontalPodAutoscaler', 'status']]),
    version('v1', [['horizontalpodautoscalers', 'HorizontalPodAutoscaler', 'status']]),
  ]),
];

const AGGREGATED: Record<string, JsonResponse> = {
  '/api': {
    kind: 'APIGroupDiscoveryList',
    items: [{ metadata: {}, versions: [version('v1', [['nodes', 'Node']])] }],
  },
  '/apis': { kind: 'APIGroupDiscoveryList', items: GROUPS },
};

const HPAS = {
  kind: 'APIResourceList',
  resources: [
    { name: 'horizontalpodautoscalers', kind: 'HorizontalPodAutoscaler', namespaced: true },
    { name: 'horizontalpodautoscalers/status', kind: 'HorizontalPodAutoscaler', namespaced: true },
  ],
};

const PLAIN: Record<string, JsonResponse> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/api/v1': { kind: 'APIResourceList', resources: [{ name: 'nodes', kind: 'Node', namespaced: false }] },
  '/apis': {
    kind: 'APIGroupList',
    groups: [
      { name: 'apps', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
      { name: 'broken.example.com', versions: [{ version: 'v1' }] },
      {
        name: 'autoscaling',
        versions: [{ version: 'v1' }, { version: 'v2' }],
        preferredVersion: { version: 'v2' },
      },
    ],
  },
  '/apis/apps/v1': {
    kind: 'APIResourceList',
    resources: [
      { name: 'deployments', kind: 'Deployment', namespaced: true },
      { name: 'deployments/scale', kind: 'Scale', namespaced: true },
      { name: 'deployments/status', kind: 'Deployment', namespaced: true },
    ],
  },
  '/apis/autoscaling/v1': HPAS,
  '/apis/autoscaling/v2': HPAS,
};

function withGroup(name: string, facts: object): JsonResponse {
  const widgets = { ...version('v1', [['widgets', 'Widget', 'scale']]), ...facts };
  return { kind: 'APIGroupDiscoveryList', items: [...GROUPS, group(name, [widgets])] };
}
