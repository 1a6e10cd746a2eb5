import { expect } from 'chai';
import { TimeSlices } from '#lib/concurrency/event-loop.ts';
import { podMetricsResource } from '#lib/resource-metrics/api/pod-metrics-resource.ts';
import { FakeMetricsSource, podUsage } from '#spec/support/metrics-source.ts';

describe('podMetricsResource', () => {
  it('yields while it creates the metrics of many namespaces from one snapshot', async () => {
    const source = new FakeMetricsSource();
    const usages = Array.from({ length: 6_000 }, (_, index) => podUsage(`n-${index % 6}`, `pod-${index}`));
    source.serve(...usages);
    const list = podMetricsResource(source, undefined).list(undefined, new TimeSlices());
    let isListed = false;
    const listed = Promise.resolve(list).then((batches) => {
      isListed = true;
      return batches;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isListed).to.equal(false);
    source.serve(podUsage('n-0', 'a-later-one'));
    const batches = await listed;
    expect(batches.map((batch) => batch.length)).to.deep.equal(Array.from({ length: 6 }, () => 1_000));
  });
});
