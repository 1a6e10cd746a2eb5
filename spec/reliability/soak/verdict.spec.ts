import { expect } from 'chai';
import type { Sample } from './sample.ts';
import { judgeMemory } from './verdict.ts';

/** One sample every five seconds. */
function samplesOf(...residentMebibytes: readonly number[]): readonly Sample[] {
  return residentMebibytes.map((resident, index) => ({
    atSeconds: 5 * index,
    residentMebibytes: resident,
    heapMebibytes: 40,
    externalMebibytes: 10,
    loopDelayMs: 0,
    fileDescriptors: 0,
    healthyAgeSeconds: 0,
    faultyNodes: 0,
    servedPods: 0,
    runningPods: 0,
    wrongContainers: 0,
    failedRequests: 0,
  }));
}

const COLD = Array.from({ length: 30 }, (_, index) => 100 + 5 * index); // grows for 150 s

describe('judgeMemory', () => {
  it('accepts growth during warm-up', () => {
    const { residentGrowth, complaints } = judgeMemory(samplesOf(...COLD, ...Array<number>(20).fill(250)));
    expect(residentGrowth).to.equal(1);
    expect(complaints).to.deep.equal([]);
  });

  it('reports the growth of memory after warm-up', () => {
    const grows = [...Array<number>(10).fill(250), ...Array<number>(10).fill(300)];
    expect(judgeMemory(samplesOf(...COLD, ...grows)).complaints).to.deep.equal([
      'Resident memory grew from 250 MiB to 300 MiB between the halves of the time after the first 150 s, by 1.20; ' +
        '1.15 is tolerated',
    ]);
  });

  it('judges no series that is too short', () => {
    expect(judgeMemory(samplesOf(...COLD))).to.deep.equal({
      residentGrowth: undefined,
      heapGrowth: undefined,
      complaints: [],
    });
  });
});
