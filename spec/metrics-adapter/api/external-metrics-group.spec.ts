import { expect } from 'chai';
import type { ExternalMetricsProvider } from '#lib/collection/metrics-provider.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { externalMetricsGroup } from '#lib/metrics-adapter/api/external-metrics-group.ts';

describe('externalMetricsGroup', () => {
  for (const path of ['namespaces/shop/rate', 'namespaces//rate'])
    it(`leads ${path} to the metric`, () => {
      expect(setUp().route(path)).to.not.equal(undefined);
    });

  for (const path of [
    ...['', 'namespaces', 'namespaces/shop', 'namespaces/shop/', 'namespaces/shop/rate/more'],
    ...['pods/shop/rate', 'nodes//rate'],
  ])
    it(`leads ${JSON.stringify(path)} nowhere`, () => {
      expect(setUp().route(path)).to.equal(undefined);
    });

  it('looks the metric up in the namespace, by its selector', () => {
    const { route, requested } = setUp();
    const labelSelector = parseLabelSelector('type=x');
    route('namespaces/shop/rate')?.read({ labelSelector, isWatch: false } as never);
    expect(requested).to.deep.equal([['shop', { metric: 'rate', selector: labelSelector }]]);
  });

  it('responds with 404 for an unknown metric, and refuses watches', () => {
    const { route } = setUp();
    const read = (path: string, isWatch = false) => route(path)?.read({ isWatch } as never);
    expect(() => read('namespaces/shop/none')).to.throw(
      'the server could not find the metric none for namespaces',
    );
    expect(() => read('namespaces/shop/rate', true))
      .to.throw()
      .with.property('code', 405);
  });

  it('lists the names of metrics, cached until they change', () => {
    const { version, existing } = setUp();
    const [first] = version.resources();
    expect(first).to.deep.equal({
      ...{ type: 'document', name: 'rate', singularName: '', kind: 'ExternalMetricValueList' },
      isNamespaced: true,
    });
    expect(version.resources()).to.equal(version.resources());
    existing.metrics = ['rate', 'depth'];
    expect(version.resources().map(({ name }) => name)).to.deep.equal(['rate', 'depth']);
  });
});

/** A group with the metric `rate`. */
function setUp() {
  const requested: unknown[] = [];
  const existing = { metrics: ['rate'] };
  const provider: ExternalMetricsProvider = {
    metrics: () => existing.metrics,
    values: (...query) => {
      requested.push(query);
      return query[1].metric === 'rate' ? [] : undefined;
    },
  };
  const [version] = externalMetricsGroup(provider).versions;
  if (!version) throw new Error('there is one');
  return { version, existing, requested, route: (path: string) => version.route?.(path.split('/')) };
}
