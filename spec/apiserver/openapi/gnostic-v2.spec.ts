import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { gnosticV2 } from '#lib/apiserver/openapi/gnostic-v2.ts';
import { ProtobufFields } from '#spec/support/protobuf-fields.ts';

interface Described {
  readonly paths: Readonly<Record<string, { readonly parameters?: readonly { readonly $ref?: string }[] }>>;
  readonly definitions: Readonly<Record<string, { readonly required?: readonly string[] }>>;
}

describe('gnosticV2', () => {
  const json = readFileSync('spec/fixtures/reference/requests/openapi-v2.body', 'utf8');
  const described = JSON.parse(json) as Described;
  const document = new ProtobufFields(gnosticV2(JSON.parse(json)));
  const named = (fields: ProtobufFields | undefined, field: number) =>
    new Map(fields?.messages(field).map((entry) => [entry.text(1), entry.message(2)]) ?? []);

  it('has version, title, and every path and definition by its name', () => {
    expect(document.text(1)).to.equal('2.0');
    expect(document.message(2)?.text(1)).to.equal('Kubernetes metrics-server');
    expect([...named(document.message(8), 2).keys()]).to.deep.equal(Object.keys(described.paths));
    expect([...named(document.message(9), 1).keys()]).to.deep.equal(Object.keys(described.definitions));
  });

  it('has operations with their responses and their own fields', () => {
    const get = named(document.message(8), 2).get('/apis/metrics.k8s.io/v1beta1/nodes/{name}')?.message(2);
    expect(get?.text(5)).to.equal('readMetricsV1beta1NodeMetrics');
    const response = get?.message(9)?.message(1)?.message(2)?.message(1);
    expect(response?.message(2)?.message(1)?.text(1)).to.equal(
      '#/definitions/io.k8s.metrics.pkg.apis.metrics.v1beta1.NodeMetrics',
    );
    expect(named(get, 13).get('x-kubernetes-action')?.text(2)).to.equal('get\n');
  });

  it('has parameters in paths and queries, and references to shared ones', () => {
    const item = named(document.message(8), 2).get('/apis/metrics.k8s.io/v1beta1/nodes/{name}');
    const [name, pretty] = item?.messages(9) ?? [];
    const inPath = name?.message(1)?.message(2)?.message(4);
    expect([
      inPath?.number(1),
      inPath?.text(2),
      inPath?.text(4),
      inPath?.text(5),
      inPath?.number(19),
    ]).to.deep.equal([1, 'path', 'name', 'string', 1]);
    const reference = pretty?.message(2)?.text(1) ?? '';
    expect(reference).to.match(/^#\/parameters\/pretty-/);
    const shared = named(document.message(10), 1).get(reference.slice('#/parameters/'.length));
    expect(shared?.message(2)?.message(3)?.text(6)).to.equal('string');
  });

  it('has schemas with fields, lists, maps and references', () => {
    const schema = named(document.message(9), 1).get('io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics');
    expect(schema?.message(22)?.text(1)).to.equal('object');
    const fields = named(schema?.message(25), 1);
    expect(fields.get('containers')?.message(23)?.message(1)?.text(1)).to.match(/ContainerMetrics$/);
    expect(fields.get('timestamp')?.text(1)).to.match(/meta\.v1\.Time$/);
    const container = named(document.message(9), 1).get(
      'io.k8s.metrics.pkg.apis.metrics.v1beta1.ContainerMetrics',
    );
    const usage = named(container?.message(25), 1).get('usage');
    expect(usage?.message(21)?.message(1)?.text(1)).to.match(/Quantity$/);
  });
});
