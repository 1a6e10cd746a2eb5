import { expect } from 'chai';
import { rememberScaling } from '#lib/hpa/limits/scale-events.ts';
import { NO_MEMORY } from '#lib/hpa/objects/hpa-memory.ts';
import { NOW_MS } from '../built-world.ts';

const event = (change: number, secondsAgo: number) => ({ change, atMs: NOW_MS - secondsAgo * 1000 });
const policy = (periodSeconds: number) => ({ type: 'Pods', value: 1, periodSeconds });

describe('rememberScaling', () => {
  const behavior = {
    scaleUp: { policies: [policy(60), policy(15)] },
    scaleDown: { policies: [policy(600)] },
  };

  it('remembers how far it went, by direction', () => {
    const up = rememberScaling(NO_MEMORY, { from: 2, to: 5 }, { behavior, nowMs: NOW_MS });
    expect(up).to.deep.equal({ ...NO_MEMORY, scaleUpEvents: [event(3, 0)] });
    const down = rememberScaling(up, { from: 5, to: 1 }, { behavior, nowMs: NOW_MS });
    expect(down).to.deep.equal({ ...up, scaleDownEvents: [event(4, 0)] });
  });

  it('overwrites what no policy asks for any more', () => {
    const memory = {
      ...NO_MEMORY,
      scaleUpEvents: [event(1, 61), event(2, 60)],
      scaleDownEvents: [event(1, 61)],
    };
    const after = rememberScaling(memory, { from: 2, to: 5 }, { behavior, nowMs: NOW_MS });
    expect(after.scaleUpEvents).to.deep.equal([event(3, 0), event(2, 60)]);
    const down = rememberScaling(memory, { from: 5, to: 2 }, { behavior, nowMs: NOW_MS });
    expect(down.scaleDownEvents).to.deep.equal([event(1, 61), event(3, 0)]);
  });

  it('remembers nothing for an HPA without behavior', () => {
    const after = rememberScaling(NO_MEMORY, { from: 2, to: 5 }, { behavior: undefined, nowMs: NOW_MS });
    expect(after).to.equal(NO_MEMORY);
  });
});
