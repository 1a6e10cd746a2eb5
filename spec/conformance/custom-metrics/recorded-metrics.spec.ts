import { expect } from 'chai';
import { isMeant, readDocumentedDifferences } from '../documented-differences.ts';
import { type Judged, judgeReplay, METRICS_PAGE } from './judge-replay.ts';
import { replayMetrics } from './replay-metrics.ts';

describe('the responses of a custom and external metrics API server', () => {
  let judged: readonly Judged[];

  before(async () => {
    judged = judgeReplay(await replayMetrics('spec/fixtures/custom-metrics'));
  });

  it('equal ours, except for documented differences', () => {
    expect(judged).to.have.length(382);
    for (const { name, differs, documented } of judged)
      expect([name, ...differs]).to.deep.equal([name, ...documented]);
  });

  it('include every recording that the table of differences names', () => {
    const patterns = readDocumentedDifferences(METRICS_PAGE).flatMap(({ recordings }) => recordings);
    expect(patterns.filter((pattern) => !judged.some(({ name }) => isMeant(pattern, name)))).to.deep.equal(
      [],
    );
  });
});
