import { expect } from 'chai';
import { describeScenario, SCENARIOS } from './scenarios.ts';

describe('SCENARIOS', () => {
  it('have namespaces of 600 pods, of which 60 have the same label, where there are so many', () => {
    const sizes = SCENARIOS.map(({ name, nodes, podsPerNode, namespaces, appsPerNamespace }) => {
      const podsPerNamespace = (nodes * podsPerNode) / namespaces;
      return [name, podsPerNamespace, podsPerNamespace / appsPerNamespace];
    });
    expect(sizes.slice(2)).to.deep.equal([
      ['medium', 600, 60],
      ['large', 600, 60],
      ['huge', 600, 60],
    ]);
  });
});

describe('describeScenario', () => {
  it('describes the numbers of objects', () => {
    expect(SCENARIOS.map(describeScenario)[3]).to.equal(
      '1000 nodes × 30 pods × 2 containers, 50 namespaces × 10 apps',
    );
  });
});
