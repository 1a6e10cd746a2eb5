import { expect } from 'chai';
import { CustomMetricsApi } from '#lib/hpa/readings/custom-metrics-api.ts';
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

  it('takes the latest version that it understands of those that are served', async () => {
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
    expect(new Set(api.asked)).to.deep.equal(new Set(['GET /apis/custom.metrics.k8s.io']));
  });

  it('asks again after ten minutes, and after a quarter of one where there was none', async () => {
    const asksAfter = async (ms: number) => {
      await api.clock.advance(ms);
      const before = api.asked.length;
      await versions.version(signal);
      return api.asked.length > before;
    };
    expect(await asksAfter(0)).to.equal(true);
    expect(await asksAfter(599_999)).to.equal(false);
    response = serving();
    expect(await asksAfter(1)).to.equal(true);
    expect(await asksAfter(14_999)).to.equal(false);
    response = serving('v1beta1');
    expect(await asksAfter(1)).to.equal(true);
    await asksAfter(15_000); // what was asked for soon is kept no longer than that
    expect(await asksAfter(599_999)).to.equal(false);
  });

  it('knows nothing where that cannot be asked', async () => {
    response = refusal(503, 'ServiceUnavailable');
    const failure = await versions.version(signal).catch((error: Error) => error.message);
    expect(failure).to.include('it is ServiceUnavailable');
  });
});
