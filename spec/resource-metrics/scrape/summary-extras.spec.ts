import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { ExtraResource } from '#lib/resource-metrics/batch/extra-resources.ts';
import { decodeSummary } from '#lib/resource-metrics/scrape/summary-decoder.ts';
import { containerExtras, nodeExtras } from '#lib/resource-metrics/scrape/summary-extras.ts';

const BOTH = new Set<ExtraResource>(['swap', 'ephemeral-storage']);

const decode = async (file: string, extras?: ReadonlySet<ExtraResource>) => {
  const text = await readFile(new URL(`../../fixtures/kubelet/series/${file}`, import.meta.url), 'utf8');
  return decodeSummary(text, { nodeName: 'lab-node', askedAtMs: 0, receivedAtMs: 0 }, extras);
};

describe('containerExtras', () => {
  it('is the writable layer and the logs, and the swap', async () => {
    const { pods } = await decode('t0-summary.json', BOTH);
    expect(pods[0]?.containers[0]?.extraBytes).to.deep.equal({ 'ephemeral-storage': 8192, swap: 0 });
  });

  it('has only what was asked for', async () => {
    const { pods } = await decode('t0-summary.json', new Set(['swap']));
    expect(pods[0]?.containers[0]?.extraBytes).to.deep.equal({ swap: 0 });
    expect((await decode('t0-summary.json')).pods[0]?.containers[0]).not.to.have.property('extraBytes');
  });

  it('has nothing of what the kubelet does not know, and no 0 for it', async () => {
    const { pods } = await decode('t0-summary-cpu-memory.json', BOTH);
    expect(pods[0]?.containers[0]?.extraBytes).to.deep.equal({ swap: 0 });
    for (const container of [{}, { swap: {} }, { swap: null, rootfs: { usedBytes: 7 } }, { logs: [] }]) {
      expect(containerExtras(container, BOTH)).to.deep.equal({});
    }
    expect(containerExtras({ rootfs: { usedBytes: 7 }, logs: { usedBytes: 0 } }, BOTH)).to.deep.equal({
      'ephemeral-storage': 7,
    });
  });
});

describe('nodeExtras', () => {
  it("is what is used of the kubelet's file system, and the swap", async () => {
    const { node } = await decode('t0-summary.json', BOTH);
    expect(node?.extraBytes).to.deep.equal({ 'ephemeral-storage': 37_236_572_160, swap: 0 });
  });

  it('has nothing of what the kubelet does not know', () => {
    expect(nodeExtras({ fs: {}, swap: { swapUsageBytes: 'x' } }, BOTH)).to.deep.equal({});
  });
});
