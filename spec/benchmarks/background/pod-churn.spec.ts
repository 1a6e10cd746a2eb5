import { expect } from 'chai';
import { successorOf } from './pod-churn.ts';

describe('successorOf', () => {
  const pod = {
    metadata: { name: 'app-1-abc', namespace: 'default', labels: { app: 'app-1' } },
    spec: { containers: [{ name: 'main', image: 'x' }], nodeName: 'node-1' },
  };

  it('has the labels and containers of the one before, and no node', () => {
    expect(successorOf(pod, 7)).to.deep.equal({
      metadata: { name: 'app-1-abc-churn-7', namespace: 'default', labels: { app: 'app-1' } },
      spec: { containers: [{ name: 'main' }] },
    });
  });

  it('does not get longer names from one time to the next', () => {
    expect(successorOf(successorOf(pod, 7), 12).metadata.name).to.equal('app-1-abc-churn-12');
  });
});
