import { expect } from 'chai';
import { RequestCounts } from '#simulator/kubelet/kubelet-routes.ts';

describe('RequestCounts', () => {
  it('counts by method and root of the path, as a kubelet does', () => {
    const counts = new RequestCounts();
    counts.count('GET', '/stats/summary');
    counts.count('GET', '/metrics/resource');
    counts.count('GET', '/stats/summary');
    counts.count('GET', '/');
    expect(counts.exposition().trimEnd().split('\n')).to.deep.equal([
      '# HELP kubelet_http_requests_total [ALPHA] Number of the http requests received since the server started',
      '# TYPE kubelet_http_requests_total counter',
      'kubelet_http_requests_total{long_running="false",method="GET",path="",server_type="readwrite"} 1',
      'kubelet_http_requests_total{long_running="false",method="GET",path="metrics/resource",server_type="readwrite"} 1',
      'kubelet_http_requests_total{long_running="false",method="GET",path="stats",server_type="readwrite"} 2',
    ]);
  });
});
