import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

// Plain modern words, as the documentation of Kubernetes and Node has them. What is refused here has a plainer one.
const ANYWHERE: Readonly<Record<string, RegExp>> = {
  'again, rather than anew': /\banew\b/i,
  'who, the caller or the client, rather than whoever': /\bwhoever\b/i,
  'needlessly or without success, rather than in vain': /\bin vain\b/i,
  'expensive, rather than dear': /\bdear\b/i,
  'its or of it, rather than thereof': /\b(?:thereof|aforesaid)\b/i,
};
/** In titles of specs these are told by the terms of the field. */
const IN_TITLES: Readonly<Record<string, RegExp>> = {
  'response or respond, rather than answer': /\banswer/i,
  'request, rather than question': /\bquestions?\b/i,
  'permission, rather than right': /\brights\b|\ba right\b/i,
  'buffer or capacity, rather than room': /\broom\b/i,
  'time slice, rather than turn': /\b(?:by|takes?|its|next|of) turns?\b/i,
};

const TEXTS = [
  '{lib,spec,scripts}/**/*.ts',
  'lib/**/*.{html,js,css}',
  '{docs,manifests}/**/*.{md,yaml}',
  '*.md',
];
/** The words themselves, and what others said. */
const PERMITTED = ['spec/words.spec.ts', 'spec/fixtures/'];

describe('the words of the project', () => {
  const files = globSync(TEXTS).filter((path) => !PERMITTED.some((prefix) => path.startsWith(prefix)));
  const lines = files.flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .map((text, index) => ({ text, place: `${path}:${index + 1}` })),
  );

  for (const [rule, pattern] of Object.entries(ANYWHERE)) {
    it(`are ${rule}`, () => {
      expect(lines.filter(({ text }) => pattern.test(text)).map(({ place }) => place)).to.deep.equal([]);
    });
  }

  it('are, in lib/, response or respond, rather than answer', () => {
    const own = lines.filter(({ place }) => place.startsWith('lib/') && place.includes('.ts:'));
    expect(own.filter(({ text }) => /\banswer/i.test(text)).map(({ place }) => place)).to.deep.equal([]);
  });

  for (const [rule, pattern] of Object.entries(IN_TITLES)) {
    it(`are, in titles, ${rule}`, () => {
      const titles = lines.filter(({ text }) => /^\s*(?:it|describe)(?:\.\w+)?\(/.test(text));
      expect(titles.length).to.be.above(1_000);
      expect(titles.filter(({ text }) => pattern.test(text)).map(({ place }) => place)).to.deep.equal([]);
    });
  }
});
