import { expect } from 'chai';
import { cachedLimits } from '#lib/scaled-objects/validation/limit-ranges.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('cachedLimits', () => {
  it('reads each namespace once in ten seconds', async () => {
    const { clock, requested, limits } = start();
    for (const namespace of ['a', 'a', 'b']) expect(await limits(namespace)).to.deep.equal(['cpu']);
    expect(requested).to.deep.equal(['a', 'b']);
    await clock.advance(9_999);
    await limits('a');
    expect(requested).to.have.lengthOf(2);
    await clock.advance(1);
    await limits('a');
    expect(requested).to.deep.equal(['a', 'b', 'a']);
  });

  it('reads at most two concurrently, with a timeout of two seconds', async () => {
    const { clock, requested, limits } = start(() => new Promise(() => {}));
    const [first, second] = [errorOf(limits('a')), errorOf(limits('b'))];
    expect(await errorOf(limits('c'))).to.match(/too many concurrent/);
    expect(requested).to.deep.equal(['a', 'b']);
    await clock.advance(2_000);
    for (const one of [first, second]) expect(await one).to.match(/Cannot list LimitRanges of namespace/);
  });

  it('caches at most 100 namespaces', async () => {
    const { requested, limits } = start();
    for (let index = 0; index <= 100; index++) await limits(`n${index}`);
    await limits('n100');
    await limits('n1');
    expect(requested).to.have.lengthOf(101);
    await limits('n0');
    expect(requested).to.have.lengthOf(102);
  });
});

function start(request: () => Promise<readonly string[]> = async () => ['cpu']) {
  const clock = new ManualClock();
  const requested: string[] = [];
  const limits = cachedLimits((namespace) => {
    requested.push(namespace);
    return request();
  }, clock);
  return { clock, requested, limits };
}
