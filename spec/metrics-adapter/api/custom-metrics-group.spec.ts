import { expect } from 'chai';
import type { CustomMetricsProvider, ObjectMetricQuery } from '#lib/collection/metrics-provider.ts';
import { parseFieldSelector } from '#lib/kubernetes/selectors/field-selector.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { customMetricsGroup } from '#lib/metrics-adapter/api/custom-metrics-group.ts';

describe('customMetricsGroup', () => {
  for (const [path, namespace, resource, name] of [
    ['nodes/a/rps', '', 'nodes', 'a'],
    ['nodes/*/rps', '', 'nodes', undefined],
    ['routes.example.org//rps', '', 'routes.example.org', undefined],
    ['namespaces/shop/metrics/rps', '', 'namespaces', 'shop'],
    ['namespaces/*/metrics/rps', '', 'namespaces', undefined],
    ['namespaces/shop/pods/web-0/rps', 'shop', 'pods', 'web-0'],
    ['namespaces/shop/pods/*/rps', 'shop', 'pods', undefined],
  ] as const)
    it(`leads ${path} to a metric of ${resource}`, () => {
      const { read, requested } = setUp();
      read(path);
      expect(requested).to.deep.equal([{ namespace, resource, name, metric: 'rps' }]);
    });

  for (const path of [
    ...['', 'nodes', 'nodes/a', 'nodes/a/', 'nodes/a/b/rps', 'nodes/a/b/c/rps'],
    ...['namespaces/shop/pods/web-0', 'namespaces/shop/metrics/', 'namespaces/shop/pods/web-0/'],
    ...['namespaces/shop/pods/web-0/rps/more', 'namespaces/shop//web-0/rps', 'namespaces/shop/metrics/a/rps'],
  ])
    it(`leads ${JSON.stringify(path)} nowhere`, () => {
      expect(setUp().route(path)).to.equal(undefined);
    });

  it('rejects unsupported requests and names the cause', () => {
    const { read } = setUp();
    expect(() => read('namespaces/shop/rps')).to.throw('invalid request path');
    expect(() => read('nodes/a/rps', { fields: 'metadata.name=b' })).to.throw(
      "fieldSelector metadata.name doesn't match requested name",
    );
    read('nodes/a/rps', { fields: 'metadata.name=a' });
    expect(() => read('nodes/a/none')).to.throw('the server could not find the metric none for nodes a');
    expect(() => read('nodes/*/none')).to.throw('the server could not find the metric none for nodes');
    const selected = () => read('nodes/a/none', { metricLabels: 'type=x' });
    expect(selected).to.throw('the metric none for nodes a with selector type=x');
    const unreadable = () => read('nodes/a/rps', { metricLabels: '=' });
    expect(unreadable).to.throw().with.property('code', 500);
    expect(() => read('nodes/a/rps', { metricLabels: 'a!=b' })).to.throw(
      '"!=" is not a valid label selector operator',
    );
  });

  it('selects metrics and objects by the request', () => {
    const { read, selectors } = setUp();
    read('nodes/*/rps', { labels: 'app=web', metricLabels: 'type in (x)' });
    expect(selectors).to.deep.equal(['app=web', 'type in (x)']);
  });

  it('lists the metrics of each resource, in both versions, v1beta2 first', () => {
    const { group } = setUp();
    expect(group.versions.map(({ version }) => version)).to.deep.equal(['v1beta2', 'v1beta1']);
    for (const { resources } of group.versions)
      expect(resources()).to.deep.equal([
        {
          ...{ type: 'document', name: 'pods/rps', singularName: '', kind: 'MetricValueList' },
          isNamespaced: true,
        },
      ]);
  });
});

/** A group with the metric `rps` of every object. */
function setUp() {
  const requested: unknown[] = [];
  const selectors: string[] = [];
  const metrics = [{ resource: 'pods', metric: 'rps', isNamespaced: true }];
  const provider: CustomMetricsProvider = {
    metrics: () => metrics,
    values({ labelSelector, metricSelector, ...query }: ObjectMetricQuery) {
      requested.push(query);
      selectors.push(labelSelector.toString(), metricSelector.toString());
      return query.metric === 'rps' ? [] : undefined;
    },
  };
  const group = customMetricsGroup(provider);
  const route = (path: string) => group.versions[0]?.route?.(path.split('/'));
  const read = (
    path: string,
    { fields = '', labels = '', metricLabels = '' }: Readonly<Record<string, string>> = {},
  ) =>
    route(path)?.read({
      labelSelector: parseLabelSelector(labels),
      fieldSelector: parseFieldSelector(fields),
      isWatch: false,
      parameters: new URLSearchParams({ metricLabelSelector: metricLabels }),
    });
  return { group, route, read, requested, selectors };
}
