import { expect } from 'chai';
import { endpointsIn } from './inspect-kubelet.ts';

describe('endpointsIn', () => {
  it('includes the families with metrics of pods', () => {
    const rows = ['metrics', 'metrics/resource', 'stats'].map(
      (path) => `kubelet_http_requests_total{method="GET",path="${path}",server_type="readwrite"} 4`,
    );
    expect(endpointsIn(`# TYPE kubelet_http_requests_total counter\n${rows.join('\n')}\n`)).to.deep.equal([
      '/metrics/resource',
      '/stats/summary?only_cpu_and_memory=true',
    ]);
  });
});
