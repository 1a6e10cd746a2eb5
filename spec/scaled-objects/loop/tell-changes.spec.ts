import { expect } from 'chai';
import { LoopMemories } from '#lib/scaled-objects/loop/loop-memory.ts';
import { tellFailures } from '#lib/scaled-objects/loop/tell-changes.ts';

describe('tellFailures', () => {
  it('tells of a failure once while it lasts, and remembers nothing of a metric that is gone', () => {
    const memories = new LoopMemories();
    const told: string[] = [];
    const own = { normal: () => {}, warning: (_: string, message: string) => void told.push(message) };
    const look = (...metricNames: readonly string[]) => {
      const state = { kind: 'failing', error: new Error('it is down') };
      const observed = metricNames.map((metricName) => ({ metric: { metricName }, state }));
      tellFailures({ spec: {} } as never, observed as never, { own, memories, key: 'a' });
      return memories.of('a').failures.size;
    };
    expect(look('s0-a', 's1-b')).to.equal(2);
    expect(look('s0-a', 's1-b')).to.equal(2);
    expect(told).to.have.length(2);
    expect(look('s0-c')).to.equal(1);
    expect(look('s0-a')).to.equal(1);
    expect(told).to.have.length(4);
  });
});
