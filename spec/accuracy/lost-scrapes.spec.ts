import { expect } from 'chai';
import { setup } from './small-cluster.ts';

describe('a node whose scrapes fail', () => {
  for (const [resolutionMs, requestTimeoutMs] of [
    [60_000, 10_000],
    [60_000, 54_000],
    [15_000, 10_000],
    [10_000, 9000],
  ] as const) {
    const setting = `resolution ${resolutionMs / 1000} s, timeout ${requestTimeoutMs / 1000} s`;
    const options = { resolutionMs, requestTimeoutMs, stalenessMs: resolutionMs + requestTimeoutMs };

    for (const latencyMs of [0, requestTimeoutMs - 10]) {
      it(`bridges one lost scrape, of a kubelet that responds in ${latencyMs} ms (${setting})`, async () => {
        const { clock, cluster, pipeline } = setup({ options });
        const node = cluster.node('a');
        node.latencyMs = latencyMs;
        await clock.advance(12_000 + 2 * resolutionMs - 1);
        const before = pipeline.node('a');
        expect(before).not.to.equal(undefined);
        node.reach = 'lost';
        await clock.advance(resolutionMs);
        expect(pipeline.sink.staleCounts).to.deep.equal({ node: 1, pod: 1 });
        node.reach = 'reachable';
        for (let seconds = 0; seconds * 1000 < latencyMs; seconds++) {
          expect(pipeline.node('a')).to.equal(before);
          expect(pipeline.pod('web')).not.to.equal(undefined);
          await clock.advance(1000);
        }
        await clock.advance(1000);
        expect(pipeline.node('a')?.timestampMs).to.be.above(before?.timestampMs ?? 0);
        expect(pipeline.sink.staleCounts).to.deep.equal({ node: 0, pod: 0 });
      });

      it(`does not bridge two, of a kubelet that responds in ${latencyMs} ms (${setting})`, async () => {
        const { clock, cluster, pipeline } = setup({ options });
        const node = cluster.node('a');
        node.latencyMs = latencyMs;
        await clock.advance(12_000 + 2 * resolutionMs - 1);
        const before = pipeline.node('a');
        node.reach = 'lost';
        await clock.advance(resolutionMs + requestTimeoutMs - 100);
        expect(pipeline.node('a')).to.equal(before);
        await clock.advance(200);
        expect(pipeline.node('a')).to.equal(undefined);
        expect(pipeline.pod('web')).to.equal(undefined);
        expect(pipeline.pod('other')).not.to.equal(undefined);
      });
    }
  }

  it('bridges the loss of the second scrape, 12 s after the first, and not that of the third', async () => {
    const { clock, cluster, pipeline } = setup();
    await clock.advance(5000);
    cluster.node('a').reach = 'lost';
    await clock.advance(72_000);
    expect(pipeline.node('a')).not.to.equal(undefined);
    await clock.advance(10_000);
    expect(pipeline.node('a')).to.equal(undefined);
  });

  it('is dropped with the first lost scrape at a staleness of 0', async () => {
    const { clock, cluster, pipeline } = setup({ options: { stalenessMs: 0 } });
    await clock.advance(71_000);
    cluster.node('a').reach = 'refusing';
    expect(pipeline.node('a')).not.to.equal(undefined);
    await clock.advance(1100);
    expect(pipeline.node('a')).to.equal(undefined);
    expect(pipeline.node('b')).not.to.equal(undefined);
  });
});
