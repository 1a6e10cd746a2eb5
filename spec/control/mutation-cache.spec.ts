import { expect } from 'chai';
import { MutationCache } from '#lib/control/mutation-cache.ts';

interface Widget {
  readonly uid: string;
  readonly resourceVersion: string;
}

const KEY = 'default/web';
const widget = (resourceVersion: string, uid = 'u'): Widget => ({ uid, resourceVersion });

describe('MutationCache', () => {
  const [first, second, third] = [widget('9'), widget('10'), widget('11')];
  let cache: MutationCache<Widget>;

  beforeEach(() => {
    cache = new MutationCache((object) => object);
  });

  it('returns the written object while the informer has the previous version', () => {
    expect(cache.latest(KEY, first)).to.equal(first);
    cache.record(KEY, second);
    expect(cache.latest(KEY, first)).to.equal(second);
    cache.record(KEY, third);
    expect(cache.latest(KEY, first)).to.equal(third);
    expect(cache.latest(KEY, second)).to.equal(third);
    expect(cache.latest('default/other', first)).to.equal(first);
    expect(cache.size).to.equal(1);
  });

  for (const [what, observed] of [
    ['the same version', widget('10')],
    ['a later version', widget('11')],
    ['another object of its name', widget('9', 'other')],
    ['a version that cannot be compared', widget('b7')],
    ['nothing', undefined],
  ] as const)
    it(`drops it once the informer shows ${what}`, () => {
      cache.record(KEY, second);
      expect(cache.latest(KEY, observed)).to.equal(observed);
      expect(cache.size).to.equal(0);
      expect(cache.latest(KEY, first)).to.equal(first);
    });

  it('distinguishes its own versions from those of others, also once the informer has them', () => {
    expect(cache.isOwn(KEY, second)).to.equal(false);
    cache.record(KEY, second);
    expect([first, second, third].map((one) => cache.isOwn(KEY, one))).to.deep.equal([false, true, false]);
    expect(cache.latest(KEY, widget('10'))).to.deep.equal(second);
    expect(cache.latest(KEY, widget('10'))).to.deep.equal(second);
    expect(cache.isOwn(KEY, second)).to.equal(true);
    cache.latest(KEY, third);
    expect(cache.isOwn(KEY, second)).to.equal(false);
  });

  it('evicts its own version of an object that was deleted, or created again', () => {
    for (const observed of [undefined, widget('10', 'other')]) {
      cache.record(KEY, second);
      cache.latest(KEY, observed);
      expect(cache.isOwn(KEY, second)).to.equal(false);
    }
  });

  it('can be emptied, of one object or of all', () => {
    cache.record(KEY, second);
    cache.record('default/other', second);
    cache.delete(KEY);
    expect([cache.latest(KEY, first), cache.latest('default/other', first)]).to.deep.equal([first, second]);
    cache.clear();
    expect(cache.latest('default/other', first)).to.equal(first);
    expect(cache.isOwn('default/other', second)).to.equal(false);
  });
});
