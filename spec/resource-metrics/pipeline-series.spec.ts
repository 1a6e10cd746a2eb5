import { expect } from 'chai';
import { PipelineMetrics } from '#lib/resource-metrics/pipeline-series.ts';
import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';
import { NotScrapedError, ScrapeError } from '#lib/resource-metrics/scrape/scrape-error.ts';
import { SlicedRegistry } from '#lib/telemetry/sliced-registry.ts';

function setup({ requestTimeoutMs = 10_000, resolutionMs = 15_000 } = {}) {
  const registry = new SlicedRegistry();
  const telemetry = new PipelineMetrics({
    registry,
    requestTimeoutMs,
    resolutionMs,
    storagePoints: () => ({ node: 1, container: 5 }),
    staleCounts: () => ({ node: 1, pod: 3 }),
  });
  const lines = async (start: string) =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith(start));
  return { lines, telemetry };
}

const scrape = (nodeName: string, error?: ScrapeError) => ({
  nodeName,
  startedAtMs: 1_795_251_023_900,
  durationMs: 20,
  error,
  ignored: ['a bad line'],
});

describe('PipelineMetrics', () => {
  it("counts scrapes in metrics-server's series", async () => {
    const { lines, telemetry } = setup();
    telemetry.recordScrape(scrape('a'));
    telemetry.recordScrape(scrape('a', new ScrapeError('a', new Error('refused'))));
    expect(await lines('metrics_server_kubelet_request_total')).to.have.members([
      'metrics_server_kubelet_request_total{success="true"} 1',
      'metrics_server_kubelet_request_total{success="false"} 1',
    ]);
    expect(await lines('metrics_server_kubelet_last_request_time_seconds')).to.deep.equal([
      'metrics_server_kubelet_last_request_time_seconds{node="a"} 1795251023',
    ]);
    expect(await lines('metrics_server_kubelet_request_duration_seconds_count')).to.deep.equal([
      'metrics_server_kubelet_request_duration_seconds_count{node="a"} 2',
    ]);
    expect(await lines('metrics_server_kubelet_ignored_parts_total')).to.deep.equal([
      'metrics_server_kubelet_ignored_parts_total 2',
    ]);
    expect(await lines('metrics_server_storage_points')).to.have.members([
      'metrics_server_storage_points{type="node"} 1',
      'metrics_server_storage_points{type="container"} 5',
    ]);
  });

  it('counts responses that exceed a limit, by limit', async () => {
    const { lines, telemetry } = setup();
    const tooDeep = new ExcessiveResponse('depth', 'it nests too deeply');
    telemetry.recordScrape(scrape('a', new ScrapeError('a', tooDeep)));
    telemetry.recordScrape(scrape('a', new ScrapeError('a', new Error('refused'))));
    expect(await lines('metrics_server_kubelet_excessive_responses_total{')).to.deep.equal([
      'metrics_server_kubelet_excessive_responses_total{bound="depth"} 1',
    ]);
  });

  it('counts scrapes that did not start separately from requests', async () => {
    const { lines, telemetry } = setup();
    telemetry.recordScrape(scrape('a', new ScrapeError('a', new NotScrapedError())));
    expect(await lines('metrics_server_kubelet_unasked_total')).to.deep.equal([
      'metrics_server_kubelet_unasked_total 1',
    ]);
    expect(await lines('metrics_server_kubelet_request_')).to.deep.equal([]);
  });

  it('counts stale nodes and pods', async () => {
    expect(await setup().lines('metrics_server_storage_stale')).to.have.members([
      'metrics_server_storage_stale{type="node"} 1',
      'metrics_server_storage_stale{type="pod"} 3',
    ]);
  });

  it("has metrics-server's buckets for a timeout above ten seconds", async () => {
    const { lines, telemetry } = setup();
    telemetry.recordCycle({ durationMs: 20, skippedCycles: 0 });
    const bounds = (await lines('metrics_server_manager_tick_duration_seconds_bucket')).map(
      (line) => /le="(.+?)"/.exec(line)?.[1],
    );
    expect(bounds.slice(-7)).to.deep.equal(['5', '10', '12.5', '15', '22.5', '30', '+Inf']);
  });

  it('counts skipped cycles', async () => {
    const { lines, telemetry } = setup();
    telemetry.recordCycle({ durationMs: 130_000, skippedCycles: 2 });
    expect(await lines('metrics_server_manager_skipped_ticks_total')).to.deep.equal([
      'metrics_server_manager_skipped_ticks_total 2',
    ]);
  });

  it('removes series of nodes that are gone', async () => {
    const { lines, telemetry } = setup();
    for (const node of ['a', 'b']) telemetry.recordScrape(scrape(node));
    telemetry.retain((node) => node === 'b');
    expect(await lines('metrics_server_kubelet_last_request_time_seconds')).to.have.length(1);
    expect(await lines('metrics_server_kubelet_request_duration_seconds_count')).to.have.length(1);
  });
});
