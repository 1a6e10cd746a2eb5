import { expect } from 'chai';
import { kubeletEndpoints } from '#lib/resource-metrics/scrape/kubelet-endpoint.ts';

describe('kubeletEndpoints', () => {
  it('asks for the full summary only for the sake of storage', () => {
    const slim = '/stats/summary?only_cpu_and_memory=true';
    expect(kubeletEndpoints().summary.path).to.equal(slim);
    expect(kubeletEndpoints(new Set(['swap'])).summary.path).to.equal(slim);
    expect(kubeletEndpoints(new Set(['ephemeral-storage'])).summary.path).to.equal('/stats/summary');
    expect(kubeletEndpoints(new Set(['ephemeral-storage'])).resource.path).to.equal('/metrics/resource');
  });
});
