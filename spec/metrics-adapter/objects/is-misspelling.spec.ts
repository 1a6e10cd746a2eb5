import { expect } from 'chai';
import { isMisspelling } from '#lib/metrics-adapter/objects/is-misspelling.ts';

describe('isMisspelling', () => {
  it('finds letters that are too many, too few, wrong, changed about or capitals', () => {
    for (const word of ['externl', 'externals', 'extetnal', 'exetrnal', 'External', 'extrnall'])
      expect(isMisspelling(word, 'external'), word).to.equal(true);
    for (const word of ['pod', 'podss', 'Pods', 'puds'])
      expect(isMisspelling(word, 'pods'), word).to.equal(true);
  });

  it('finds nothing in the word itself, and in words further away', () => {
    for (const word of ['external', '', 'internal-', 'extra', 'e'.repeat(100_000)])
      expect(isMisspelling(word, 'external'), word.slice(0, 20)).to.equal(false);
    for (const word of ['prod', 'io', 'com']) expect(isMisspelling(word, 'pods'), word).to.equal(false);
  });
});
