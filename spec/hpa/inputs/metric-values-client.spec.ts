import { expect } from 'chai';
import {
  CustomMetricsApi,
  externalMetricPath,
  objectMetricPath,
  podsMetricPath,
} from '#lib/hpa/inputs/metric-values-client.ts';
import { metricSelector } from '#lib/kubernetes/selectors/selector-object.ts';
import { type JsonApi, type JsonResponse, refusal, startJsonApi } from '#spec/support/json-api.ts';

const { signal } = new AbortController();
const serving = (...versions: readonly string[]) => ({ versions: versions.map((version) => ({ version })) });

describe('CustomMetricsApi', () => {
  let api: JsonApi;
  let response: JsonResponse;
  let versions: CustomMetricsApi;

  beforeEach(async () => {
    response = serving('v1beta2');
    api = await startJsonApi(() => response);
    versions = new CustomMetricsApi({ client: api.api, clock: api.clock });
  });
  afterEach(() => api[Symbol.asyncDispose]());

  it('selects the latest supported version that is served', async () => {
    for (const [served, expected] of [
      [serving('v1beta1', 'v1beta2'), 'v1beta2'],
      [serving('v1beta1'), 'v1beta1'],
      [serving('v2', 'v1'), undefined],
      [serving(), undefined],
      [{ groups: [] }, undefined],
      [refusal(404, 'NotFound'), undefined],
    ] as const) {
      response = served;
      const fresh = new CustomMetricsApi({ client: api.api, clock: api.clock });
      expect(await fresh.version(signal), JSON.stringify(served)).to.equal(expected);
    }
    expect(new Set(api.requested)).to.deep.equal(new Set(['GET /apis/custom.metrics.k8s.io']));
  });

  it('requests the version again after ten minutes, and after 15 s when none was served', async () => {
    const requestsAfter = async (ms: number) => {
      await api.clock.advance(ms);
      const before = api.requested.length;
      await versions.version(signal);
      return api.requested.length > before;
    };
    expect(await requestsAfter(0)).to.equal(true);
    expect(await requestsAfter(599_999)).to.equal(false);
    response = serving();
    expect(await requestsAfter(1)).to.equal(true);
    expect(await requestsAfter(14_999)).to.equal(false);
    response = serving('v1beta1');
    expect(await requestsAfter(1)).to.equal(true);
    await requestsAfter(15_000); // a version that was read with the short maximum age is evicted after that
    expect(await requestsAfter(599_999)).to.equal(false);
  });

  it('returns nothing when discovery fails', async () => {
    response = refusal(503, 'ServiceUnavailable');
    const failure = await versions.version(signal).catch((error: Error) => error.message);
    expect(failure).to.include('it is ServiceUnavailable');
  });
});

// The paths are recorded from Kubernetes 1.34's controller.
describe('podsMetricPath', () => {
  const pods = { namespace: 'shop', labelSelector: 'app=web,tier in (edge,front)', metricSelector: '' };

  it('selects all pods of a selector', () => {
    expect(podsMetricPath('v1beta2', { ...pods, name: 'http_requests' })).to.equal(
      '/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/%2A/http_requests?labelSelector=app%3Dweb%2Ctier+in+%28edge%2Cfront%29',
    );
    expect(podsMetricPath('v1beta1', { ...pods, name: 'latency:p99' })).to.equal(
      '/apis/custom.metrics.k8s.io/v1beta1/namespaces/shop/pods/%2A/latency:p99?labelSelector=app%3Dweb%2Ctier+in+%28edge%2Cfront%29',
    );
  });

  it('selects by labels of the metric in addition to those of pods', () => {
    const selector = metricSelector({
      matchLabels: { verb: 'GET' },
      matchExpressions: [
        { key: 'code', operator: 'NotIn', values: ['503', '500'] },
        { key: 'host', operator: 'DoesNotExist' },
      ],
    });
    expect(podsMetricPath('v1beta2', { ...pods, name: 'http_requests', metricSelector: selector })).to.equal(
      '/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/%2A/http_requests?labelSelector=app%3Dweb%2Ctier+in+%28edge%2Cfront%29&metricLabelSelector=code+notin+%28500%2C503%29%2C%21host%2Cverb%3DGET',
    );
  });

  it('escapes metric names', () => {
    expect(podsMetricPath('v1beta2', { ...pods, name: 'a/../b?c' })).to.contain('/%2A/a%2F..%2Fb%3Fc?');
    expect(() => podsMetricPath('v1beta2', { ...pods, name: '..' })).to.throw(
      'Cannot build path: ".." is not a path segment',
    );
  });
});

describe('objectMetricPath', () => {
  const metric = { namespace: 'shop', name: 'requests_per_second', metricSelector: '' };

  it('qualifies resources with their groups', () => {
    const paths = ['services', 'ingresses.networking.k8s.io', 'nodes'].map((resource) =>
      objectMetricPath('v1beta2', metric, { resource, name: 'web' }),
    );
    expect(paths).to.deep.equal([
      '/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/services/web/requests_per_second',
      '/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/ingresses.networking.k8s.io/web/requests_per_second',
      '/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/nodes/web/requests_per_second',
    ]);
  });

  it('has a path of its own for metrics of a namespace', () => {
    const requested = { ...metric, name: 'total_orders', metricSelector: 'currency=EUR' };
    expect(objectMetricPath('v1beta2', requested, { resource: 'namespaces', name: 'shop' })).to.equal(
      '/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/metrics/total_orders?metricLabelSelector=currency%3DEUR',
    );
  });
});

describe('externalMetricPath', () => {
  it('is in lower case, with a selector only for labels', () => {
    const selector = metricSelector({
      matchExpressions: [
        { key: 'queue', operator: 'In', values: ['b', 'a'] },
        { key: 'queue', operator: 'Exists' },
        { key: 'queue', operator: 'NotIn', values: ['z'] },
        { key: 'priority', operator: 'DoesNotExist' },
      ],
    });
    expect(externalMetricPath({ namespace: 'shop', name: 'My-Queue.Depth', metricSelector: '' })).to.equal(
      '/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/my-queue.depth',
    );
    expect(externalMetricPath({ namespace: 'shop', name: 'queue_depth', metricSelector: selector })).to.equal(
      '/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/queue_depth?labelSelector=%21priority%2Cqueue+in+%28a%2Cb%29%2Cqueue%2Cqueue+notin+%28z%29',
    );
  });
});

describe('metricSelector', () => {
  it('rejects unknown operators', () => {
    expect(() => metricSelector({ matchExpressions: [{ key: 'a', operator: 'Near' }] })).to.throw(
      '"Near" is not a valid label selector operator',
    );
  });
});
