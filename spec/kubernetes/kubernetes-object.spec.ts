import { expect } from 'chai';
import { keyOf, nameOfKey } from '#lib/kubernetes/kubernetes-object.ts';

describe('nameOfKey', () => {
  for (const [key, name] of [
    ['shop/web', { namespace: 'shop', name: 'web' }],
    ['node-1', { name: 'node-1' }],
  ] as const) {
    it(`tells what ${key} means, as keyOf writes it`, () => {
      expect(nameOfKey(key)).to.deep.equal(name);
      expect(keyOf(name)).to.equal(key);
    });
  }
});
