import { expect } from 'chai';
import { parseLabelSelector } from '#simulator/objects/label-selector.ts';

describe('parseLabelSelector', () => {
  const labels = { app: 'web', tier: 'front', empty: '' };

  for (const [selector, isSelected] of [
    ['', true],
    ['app=web', true],
    ['app==web', true],
    ['app = web', true],
    ['app!=web', false],
    ['missing!=web', true],
    ['app in (web, db)', true],
    ['app in (db)', false],
    ['app notin (db),tier=front', true],
    ['missing notin (a)', true],
    ['app', true],
    ['!app', false],
    ['!missing', true],
    ['empty=', true],
    ['app in (web),tier in (back,middle)', false],
  ] as const) {
    it(`${isSelected ? 'selects' : 'does not select'} by ${JSON.stringify(selector)}`, () => {
      expect(parseLabelSelector(selector).matches(labels)).to.equal(isSelected);
    });
  }

  it('rejects an invalid selector', () => {
    for (const text of ['=a', 'a in b', 'a(', 'a=b=c', '-a', 'a,,b']) {
      expect(() => parseLabelSelector(text), text).to.throw(/^unable to parse requirement/);
    }
  });

  it('does not take inherited properties for labels', () => {
    expect(parseLabelSelector('constructor').matches({})).to.equal(false);
  });

  it('reports whether it selects everything', () => {
    expect(parseLabelSelector(' ').isEverything).to.equal(true);
    expect(parseLabelSelector('a').isEverything).to.equal(false);
  });
});
