import { expect } from 'chai';
import { defaultLimit } from '#lib/hpa/limits/default-limit.ts';

describe('defaultLimit', () => {
  const CASES: readonly [recommended: number, current: number, replicas: number, reason: string][] = [
    [5, 5, 5, 'DesiredWithinRange'],
    [1, 5, 2, 'TooFewReplicas'],
    [2, 5, 2, 'DesiredWithinRange'],
    [9, 5, 9, 'DesiredWithinRange'],
    [12, 5, 10, 'ScaleUpLimit'],
    [5, 1, 4, 'ScaleUpLimit'],
    [10, 5, 10, 'DesiredWithinRange'],
    [17, 8, 16, 'TooManyReplicas'],
    [16, 9, 16, 'DesiredWithinRange'],
    [17, 9, 16, 'TooManyReplicas'],
  ];
  for (const [recommended, currentReplicas, replicas, reason] of CASES) {
    it(`makes ${replicas} of ${recommended} at ${currentReplicas}`, () => {
      const range = { currentReplicas, minReplicas: 2, maxReplicas: 16 };
      expect(defaultLimit(recommended, range)).to.include({ replicas, reason });
    });
  }

  it('doubles beyond 32 bits without harm', () => {
    const range = { currentReplicas: 2 ** 30 + 1, minReplicas: 1, maxReplicas: 2 ** 31 - 1 };
    expect(defaultLimit(2 ** 31 - 1, range).replicas).to.equal(2 ** 31 - 1);
  });
});
