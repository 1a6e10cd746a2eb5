import { expect } from 'chai';
import { planFirstRequests } from './plan-first-requests.ts';
import { FORMATS, REQUEST_KINDS } from './scenarios.ts';

describe('planFirstRequests', () => {
  const plan = planFirstRequests(REQUEST_KINDS, FORMATS);

  it('plans every kind in every format once', () => {
    const requested = plan.flat().map(({ kind, format }) => `${kind.name}, ${format}`);
    expect(requested).to.have.lengthOf(REQUEST_KINDS.length * FORMATS.length);
    expect(new Set(requested)).to.have.lengthOf(requested.length);
  });

  it('never plans two requests for the same objects after one cycle', () => {
    for (const together of plan) {
      const about = together.map(({ kind }) => kind.about);
      expect(new Set(about)).to.have.lengthOf(about.length);
    }
  });

  it('needs no cycle for nothing', () => {
    expect(planFirstRequests([], FORMATS)).to.deep.equal([]);
  });
});
