import { expect } from 'chai';
import { isDnsLabel } from '#lib/kubernetes/dns-label.ts';

describe('isDnsLabel', () => {
  for (const text of ['a', '0', 'kube-system', 'a--b', 'a'.repeat(63)])
    it(`takes ${text.slice(0, 20)}`, () => expect(isDnsLabel(text)).to.equal(true));

  for (const text of ['', '-a', 'a-', 'A', 'a.b', 'a_b', 'a\n', 'ä', 'a'.repeat(64)])
    it(`takes no ${JSON.stringify(text.slice(0, 20))}`, () => expect(isDnsLabel(text)).to.equal(false));
});
