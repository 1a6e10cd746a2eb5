import { expect } from 'chai';
import { measureReaction } from './reaction.ts';

describe('the time from a step of load to a write of the scale', () => {
  for (const settings of [
    { resolutionMs: 15_000, periodSeconds: 15, endpoint: 'summary', runtime: 'cri' },
    { resolutionMs: 5000, periodSeconds: 5, endpoint: 'resource', runtime: 'cri' },
  ] as const) {
    const resolutionMs = settings.resolutionMs;
    const periodMs = settings.periodSeconds * 1000;

    it(`is at most a cycle and a period, and another cycle for all replicas, at ${resolutionMs / 1000} s`, async () => {
      const { firstMs, fullMs } = await measureReaction(settings, 2);
      const stepsOfASecondMs = 3000; // of the kubelet's metrics, the HPA and the reading of the scale
      expect(firstMs.worst).to.be.at.most(resolutionMs + periodMs + stepsOfASecondMs);
      expect(fullMs.worst).to.be.at.most(2 * resolutionMs + periodMs + stepsOfASecondMs);
    });
  }
});
