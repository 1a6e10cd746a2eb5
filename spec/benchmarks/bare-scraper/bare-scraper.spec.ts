import { expect } from 'chai';
import { startCluster } from '#simulator/simulated-cluster.ts';
import { eventually } from '#spec/support/eventually.ts';
import { BareScraper } from './bare-scraper.ts';

describe('BareScraper', () => {
  it('scrapes each kubelet once an interval, over one connection, and counts the bytes', async () => {
    await using cluster = await startCluster({ nodes: 2, podsPerNode: 1 });
    const nodes = [...cluster.nodes()];
    const options = {
      addresses: nodes.map(({ address }) => `${address}:${cluster.kubeletPort}`),
      ca: cluster.pki.kubeletCa.certificatePem,
      path: '/metrics/resource',
      intervalMs: 20,
    };
    using scraper = new BareScraper({ ...options, token: cluster.metricsServerToken });
    await scraper.start();
    await eventually(() => scraper.scrapes.responses >= 6);
    expect(scraper.scrapes.refusals).to.equal(0);
    expect(scraper.scrapes.bytes).to.be.above(6 * 1000);
    expect(nodes.map(({ kubelet }) => kubelet.connectionCount)).to.deep.equal([1, 1]);
    using stranger = new BareScraper({ ...options, token: 'unknown' });
    await stranger.start();
    await eventually(() => stranger.scrapes.refusals > 0);
    expect(stranger.scrapes.responses).to.equal(0);
  });

  it('continues after a kubelet has closed the connection, and counts refusals', async () => {
    const cluster = await startCluster({ nodes: 1, podsPerNode: 1 });
    const [node] = cluster.nodes();
    const address = `${node?.address}:${cluster.kubeletPort}`;
    const options = { path: '/metrics/resource', token: cluster.metricsServerToken, intervalMs: 20 };
    using scraper = new BareScraper({
      ...options,
      addresses: [address],
      ca: cluster.pki.kubeletCa.certificatePem,
    });
    await scraper.start();
    await eventually(() => scraper.scrapes.responses >= 1);
    await cluster[Symbol.asyncDispose]();
    const { refusals } = scraper.scrapes;
    await eventually(() => scraper.scrapes.refusals > refusals + 1);
  });
});
