import { expect } from 'chai';
import { measureControllers, reportControllers } from './measure-controllers.ts';

describe('measureControllers', () => {
  it('measures the latency of each change until its status is written, and its cost', async () => {
    const scenario = { objects: 40, changesPerSecond: 20, durationMs: 1000, settleMs: 0 };
    const result = await measureControllers(scenario, {
      program: [process.execPath, 'lib/main.ts'],
      onProgress: () => {},
    });
    expect(result.changes).to.equal(20);
    expect(result.latenciesMs.every((ms) => ms >= 0)).to.equal(true);
    expect(result.latenciesMs.at(-1)).to.be.greaterThan(0);
    expect(result.residentBytes).to.be.greaterThan(2 ** 20);
    expect(result.millicores).to.be.greaterThan(0);
    expect(reportControllers(result)).to.match(/20 changes: half [\d.]+ ms, 95 % [\d.]+ ms, 99 % [\d.]+ ms/);
  });
});
