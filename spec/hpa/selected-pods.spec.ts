import { expect } from 'chai';
import { selectionProblem } from '#lib/hpa/selected-pods.ts';

describe('selectionProblem', () => {
  const own = 'default/web';

  it('finds none in a selector of one HPA', () => {
    expect(selectionProblem('app=web', { own, rivals: [] })).to.equal(undefined);
  });

  it('is that there is no selector', () => {
    expect(selectionProblem('', { own, rivals: [] })).to.deep.equal({
      reason: 'InvalidSelector',
      eventReason: 'SelectorRequired',
      message: "the HPA target's scale is missing a selector",
      error: 'selector is required',
    });
  });

  it('is that it cannot be read', () => {
    expect(selectionProblem('app in (web', { own, rivals: [] })?.message).to.equal(
      "couldn't convert selector into a corresponding internal selector object: unable to parse requirement: found '', expected: ',' or ')'",
    );
  });

  it('is that others select the same pods, sorted', () => {
    const problem = selectionProblem('app=web', { own, rivals: ['default/x', 'default/a'] });
    expect(problem).to.deep.include({
      reason: 'AmbiguousSelector',
      error: 'pods by selector app=web are controlled by multiple HPAs: [default/a default/web default/x]',
    });
  });
  it('names no more of a thousand others than are read', () => {
    const rivals = Array.from({ length: 1000 }, (_, place) => `default/x-${place}`);
    const message = selectionProblem('app=web', { own, rivals })?.message;
    expect(message).to.match(/HPAs: \[default\/web default\/x-0 default\/x-1 .* and 981 more\]$/);
    expect(message?.length).to.be.lessThan(1024);
  });
});
