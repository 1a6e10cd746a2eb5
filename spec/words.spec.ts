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
/** Words that others use in their own sense, so that they are refused where nobody does. */
const TERMS: readonly { readonly rule: string; readonly pattern: RegExp; readonly permitted: RegExp }[] = [
  // DNS has questions and answers.
  { rule: 'response or respond, rather than answer', pattern: /answer/i, permitted: /dns/ },
  {
    rule: 'request, rather than question',
    pattern: /\bquestions?\b(?! mark)(?<!\bin question)/i,
    permitted: /dns|name-resolver/,
  },
  { rule: 'permission, rather than right', pattern: /\brights\b|\b(?:a|the) right to\b/i, permitted: /^$/ },
  { rule: 'buffer or capacity, rather than room', pattern: /\brooms?\b/i, permitted: /^$/ },
  {
    rule: 'time slice, rather than turn',
    pattern: /\b(?:takes?|its|their|next|whose) turns?\b/i,
    permitted: /^$/,
  },
  // What is injected to see what becomes of it is a fault.
  {
    rule: 'error, rather than fault',
    pattern: /(?<!de)fault/i,
    permitted: /^simulator|^spec|^docs|^scripts|^[A-Z]/,
  },
];

const TEXTS = [
  '{lib,simulator,spec,scripts}/**/*.ts',
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

  for (const { rule, pattern, permitted } of TERMS) {
    it(`are ${rule}, in names, comments, texts and titles`, () => {
      const offending = lines.filter(({ text, place }) => pattern.test(text) && !permitted.test(place));
      expect(offending.map(({ place }) => place)).to.deep.equal([]);
    });
  }
});
