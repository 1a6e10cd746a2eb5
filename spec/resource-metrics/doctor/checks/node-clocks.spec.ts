import { expect } from 'chai';
import { examine, startExaminedCluster } from '#spec/support/examined-cluster.ts';

describe('nodeClocks', () => {
  for (const [skewMs, words] of [
    [120_000, 'ahead of our clock'],
    [-300_000, 'behind our clock'],
  ] as const) {
    it(`tells that one is ${words}`, async () => {
      await using server = await startExaminedCluster({
        nodes: 1,
        nodeOverrides: { 'node-1': { clockSkewMs: skewMs } },
      });
      const { diagnoses, findings } = await examine(server);
      expect(diagnoses).to.deep.equal(['node-clock-skewed']);
      const found = findings.find(({ status }) => status === 'failed');
      expect(found?.seen).to.include(words);
      expect(found).to.have.property('remedy').which.includes('Set the clock of node-1');
    });
  }
});
