import { expect } from 'chai';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import { type DescribedApi, OpenApiDocuments } from '#lib/apiserver/discovery/openapi-endpoints.ts';
import { objectOf, text } from '#lib/apiserver/encoding/schema.ts';
import type { ApiGroup, ServedResource } from '#lib/apiserver/resources/api-group.ts';
import { metricsApiGroup } from '#lib/resource-metrics/api/metrics-api-group.ts';
import { requestHttp1 } from '#spec/support/api-request.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { FakeMetricsSource } from '#spec/support/metrics-source.ts';
import { thingsResource } from '#spec/support/served-things.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

interface Described {
  readonly paths: Readonly<Record<string, { readonly get: { readonly operationId: string } }>>;
}

describe('OpenApiDocuments', () => {
  const things = thingsResource(() => [], { schema: 'io.lab.Thing', listSchema: 'io.lab.ThingList' });
  let resources: readonly ServedResource[] = [things];
  const lab: ApiGroup = {
    name: 'lab.example.k8s.io',
    versions: [
      {
        version: 'v1alpha1',
        resources: () => resources,
        schemas: {
          'io.lab.Thing': objectOf('A thing.', { properties: { size: text('Its size.') } }),
          'io.lab.ThingList': objectOf('Things.', { properties: {} }),
        },
      },
    ],
  };
  const clock = new ManualClock();
  const described = (groups: DescribedApi['groups']) =>
    new OpenApiDocuments({ groups, info: { title: 'Lab', version: 'v1' }, clock });
  const documents = described([metricsApiGroup(new FakeMetricsSource()), lab]);
  const v3 = (name: string) =>
    JSON.parse(documents.v3(name)?.body.toString() ?? 'null') as Described & {
      readonly components: { readonly schemas: object };
    };
  const v2 = () => JSON.parse(documents.v2().body.toString()) as Described & { readonly definitions: object };

  it('has a document for each path of discovery, found by its hash in the index', () => {
    const { paths } = JSON.parse(documents.v3Index().body.toString());
    expect(Object.keys(paths)).to.deep.equal([
      'apis',
      'apis/metrics.k8s.io',
      'apis/metrics.k8s.io/v1beta1',
      'apis/lab.example.k8s.io',
      'apis/lab.example.k8s.io/v1alpha1',
      'version',
    ]);
    for (const [name, { serverRelativeURL }] of Object.entries<{ serverRelativeURL: string }>(paths)) {
      expect(serverRelativeURL).to.equal(`/openapi/v3/${name}?hash=${documents.v3(name)?.hash}`);
    }
    expect(documents.v3('apis/none')).to.equal(undefined);
  });

  it('names every operation once, for its group and version', () => {
    const { paths } = v2();
    const ids = Object.values(paths).map(({ get }) => get.operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(paths['/apis/lab.example.k8s.io/v1alpha1/things/{name}']?.get).to.deep.include({
      operationId: 'readLabExampleV1alpha1Thing',
      tags: ['labExample_v1alpha1'],
      'x-kubernetes-group-version-kind': { group: 'lab.example.k8s.io', version: 'v1alpha1', kind: 'Thing' },
    });
  });

  it('refers to nothing that is not in the same document', () => {
    const { definitions } = v2();
    expect(missing(JSON.stringify(v2()), '#/definitions/', Object.keys(definitions))).to.deep.equal([]);
    for (const name of [
      'apis',
      'version',
      'apis/metrics.k8s.io/v1beta1',
      'apis/lab.example.k8s.io/v1alpha1',
    ]) {
      const document = v3(name);
      const existing = Object.keys(document.components.schemas);
      expect(missing(JSON.stringify(document), '#/components/schemas/', existing)).to.deep.equal([]);
    }
  });

  it('is the same until the served resources change', () => {
    const before = documents.v2();
    expect(documents.v2()).to.equal(before);
    resources = [];
    expect(documents.v2().hash).not.to.equal(before.hash);
    expect(Object.keys(v3('apis/lab.example.k8s.io/v1alpha1').paths)).to.deep.equal([
      '/apis/lab.example.k8s.io/v1alpha1/',
    ]);
    resources = [things];
  });

  it('names the schema that a description lacks', () => {
    const incomplete = { ...lab, versions: [{ version: 'v1', resources: () => [things] }] };
    expect(() => described([incomplete]).v2()).to.throw('Cannot describe the API: schema io.lab.Thing');
  });
});

describe('the endpoints of descriptions', () => {
  const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
  let server: ApiServer;
  before(async () => {
    server = await startTestApiServer();
  });
  after(() => server[Symbol.asyncDispose]());

  for (const path of ['/openapi/v2', '/openapi/v3/version']) {
    for (const accept of ['application/json', '*/*', `${PROTOBUF}, application/json`, 'application/*;q=0.5'])
      it(`serve JSON at ${path} to clients that accept ${accept}`, async () => {
        const { status, headers } = await requestHttp1({
          port: server.address.port,
          path,
          headers: { accept },
        });
        expect([status, headers['content-type']]).to.deep.equal([200, 'application/json']);
      });
    for (const accept of [PROTOBUF, 'text/html', 'application/yaml'])
      it(`respond with an empty 406 at ${path} to clients that accept ${accept} alone`, async () => {
        const { status, body } = await requestHttp1({ port: server.address.port, path, headers: { accept } });
        expect([status, body.length]).to.deep.equal([406, 0]);
      });
  }
});

/** The names of references to missing definitions. */
function missing(json: string, root: string, existing: readonly string[]): readonly string[] {
  return [...json.matchAll(/"\$ref":"([^"]+)"/g)]
    .map(([, reference = '']) => reference)
    .filter((reference) => !reference.startsWith('#/parameters/'))
    .map((reference) => reference.slice(root.length))
    .filter((name) => !existing.includes(name));
}
