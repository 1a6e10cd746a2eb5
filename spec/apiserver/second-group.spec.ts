import { expect } from 'chai';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import type {
  ApiGroup,
  ApiVersion,
  DocumentResource,
  ServedResource,
} from '#lib/apiserver/resources/api-group.ts';
import { metricsApiGroup } from '#lib/resource-metrics/api/metrics-api-group.ts';
import { type ApiResponse, jsonOf, requestHttp1 } from '#spec/support/api-request.ts';
import { FakeMetricsSource, nodeUsage } from '#spec/support/metrics-source.ts';
import { Thing, thingsResource } from '#spec/support/served-things.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

// A group like custom.metrics.k8s.io: its metrics change at run time, their values have paths of three segments, and it
// must request them from another server.
describe('a second group beside metrics.k8s.io', () => {
  let server: ApiServer;
  let resources: readonly ServedResource[];
  const things = ['a', 'b', 'c'].map((name, size) => new Thing(name, { labels: { is: name }, size }));
  const listed = [thingsResource(() => [things], { list: async () => [things] })];
  const source = new FakeMetricsSource();
  source.serve(nodeUsage('a'));

  before(async () => {
    const values: ApiGroup = {
      name: 'values.example.io',
      versions: [
        { version: 'v2', resources: () => resources, route: routeTo(() => resources) },
        { version: 'v1', resources: () => listed },
      ],
    };
    server = await startTestApiServer({
      groups: [metricsApiGroup(source), values],
      requestTimeoutMs: 60_000,
    });
  });
  beforeEach(() => {
    resources = [];
  });
  after(() => server[Symbol.asyncDispose]());

  const request = (path: string, accept = 'application/json'): Promise<ApiResponse> =>
    requestHttp1({ port: server.address.port, path, headers: { accept } });
  const ROOT = '/apis/values.example.io/v2';

  it('is discovered with all its versions, the preferred one first', async () => {
    const { groups } = jsonOf<{ groups: { name: string; versions: unknown; preferredVersion: unknown }[] }>(
      await request('/apis'),
    );
    expect(groups.map(({ name }) => name)).to.deep.equal(['metrics.k8s.io', 'values.example.io']);
    const v2 = { groupVersion: 'values.example.io/v2', version: 'v2' };
    expect(groups[1]).to.deep.include({
      versions: [v2, { groupVersion: 'values.example.io/v1', version: 'v1' }],
      preferredVersion: v2,
    });
    expect((await request('/apis/values.example.io/v1')).status).to.equal(200);
    expect((await request('/apis/values.example.io/v3')).status).to.equal(404);
    expect((await request('/apis/metrics.k8s.io/v1beta1/nodes/a')).status).to.equal(200);
  });

  it('has the resources of the moment, in discovery and at their paths', async () => {
    const path = `${ROOT}/namespaces/n/pods/web/requests`;
    expect(jsonOf(await request(ROOT))).to.deep.include({ resources: [] });
    expect((await request(path)).status).to.equal(404);
    resources = [gauge('pods/requests')];
    expect(jsonOf(await request(ROOT))).to.deep.include({
      resources: [
        { name: 'pods/requests', singularName: '', namespaced: true, kind: 'Value', verbs: ['get'] },
      ],
    });
    expect(jsonOf(await request(path))).to.deep.equal({
      kind: 'Value',
      apiVersion: 'values.example.io/v2',
      of: 'n/web',
    });
    resources = [];
    expect((await request(path)).status).to.equal(404);
  });

  it('is part of the aggregated discovery, subresources inside their resource, with a hash of its own', async () => {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const before = await request('/apis', accept);
    resources = [
      thingsResource(() => [], { name: 'pods', isNamespaced: true, shortNames: ['po'] }),
      gauge('pods/requests'),
    ];
    const after = await request('/apis', accept);
    expect(after.headers.etag).not.to.equal(before.headers.etag);
    const { items } = jsonOf<{ items: { versions: { resources: unknown[] }[] }[] }>(after);
    const kind = (name: string) => ({ group: '', version: '', kind: name });
    expect(items[1]?.versions[0]?.resources).to.deep.equal([
      {
        resource: 'pods',
        responseKind: kind('Thing'),
        scope: 'Namespaced',
        singularResource: 'thing',
        verbs: ['get', 'list'],
        shortNames: ['po'],
        subresources: [{ subresource: 'requests', responseKind: kind('Value'), verbs: ['get'] }],
      },
    ]);
  });

  it('lists objects that it fetches, selected, paged and printed like any others', async () => {
    const root = '/apis/values.example.io/v1/things';
    const names = async (query: string) =>
      jsonOf<{ items: { metadata: { name: string } }[] }>(await request(`${root}?${query}`)).items.map(
        ({ metadata }) => metadata.name,
      );
    expect(await names('labelSelector=is+notin+(b)')).to.deep.equal(['a', 'c']);
    expect(await names('limit=2')).to.deep.equal(['a', 'b']);
    const table = jsonOf<{ rows: { cells: unknown[] }[] }>(
      await request(root, 'application/json;as=Table;v=v1;g=meta.k8s.io'),
    );
    expect(table.rows.map(({ cells }) => cells)).to.deep.equal([
      ['a', 0],
      ['b', 1],
      ['c', 2],
    ]);
    expect((await request(`${root}/b`)).status).to.equal(200);
  });

  it('is described where its resources name their schemas', async () => {
    resources = [gauge('pods/requests')];
    const { paths } = jsonOf<{ paths: Record<string, unknown> }>(
      await request('/openapi/v3/apis/values.example.io/v2'),
    );
    expect(Object.keys(paths)).to.deep.equal([`${ROOT}/`]);
  });
});

/** Discovery of values at `pods/NAME/requests`. */
function gauge(name: string): DocumentResource {
  return { type: 'document', name, singularName: '', kind: 'Value', isNamespaced: true };
}

/** Routes to the value of a pod, as long as the group has such values. */
function routeTo(resources: () => readonly ServedResource[]): NonNullable<ApiVersion['route']> {
  return ([, namespace, resource, name, metric]) => {
    if (!resources().some((one) => one.name === `${resource}/${metric}`)) return undefined;
    return {
      read: () => ({
        kind: 'Value',
        apiVersion: 'values.example.io/v2',
        fields: () => ({ of: `${namespace}/${name}` }),
        membersText: () => `"of":"${namespace}/${name}"`,
        writeFields: (message) => message.string(1, `${namespace}/${name}`),
      }),
    };
  };
}
