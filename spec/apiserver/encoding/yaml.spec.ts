import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { JsonObject } from '#lib/apiserver/encoding/json.ts';
import { compareYamlKeys, goYaml } from '#lib/apiserver/encoding/yaml.ts';
import { jsonObjects } from '#spec/support/json-values.ts';

describe('goYaml', () => {
  const examples: readonly [string, JsonObject, string][] = [
    ['sorts keys', { b: 1, a: true, c: null }, 'a: true\nb: 1\nc: null\n'],
    ['writes a sequence no deeper than its key', { a: [1, 2] }, 'a:\n- 1\n- 2\n'],
    ['puts the first key of an item behind its dash', { a: [{ b: 1, c: 2 }] }, 'a:\n- b: 1\n  c: 2\n'],
    ['nests', { a: { b: { c: [[1], [2]] } } }, 'a:\n  b:\n    c:\n    - - 1\n    - - 2\n'],
    ['closes what is empty', { a: {}, b: [], c: '' }, 'a: {}\nb: []\nc: ""\n'],
    [
      'quotes what would read as something else',
      { a: '0', b: 'yes', c: '2026-11-21T08:50:25Z', d: '1e+3', e: '~', f: '12:30' },
      'a: "0"\nb: "yes"\nc: "2026-11-21T08:50:25Z"\nd: "1e+3"\ne: "~"\nf: "12:30"\n',
    ],
    [
      'leaves what reads as itself',
      { a: '10.023s', b: '496860Ki', c: '7b8469d94f', d: 'a:b', e: 'it is', f: '1.2.3' },
      'a: 10.023s\nb: 496860Ki\nc: 7b8469d94f\nd: a:b\ne: it is\nf: 1.2.3\n',
    ],
    [
      'uses single quotes for indicators',
      { a: 'b: c', d: '#e', f: "'g' #h", i: '*', j: '- k' },
      "a: 'b: c'\nd: '#e'\nf: '''g'' #h'\ni: '*'\nj: '- k'\n",
    ],
    [
      'writes lines as a literal block',
      { a: 'b\n\nc', d: 'e\n', f: 'g\n\n' },
      'a: |-\n  b\n\n  c\nd: |\n  e\nf: |+\n  g\n\n',
    ],
    ['escapes what cannot be printed', { a: 'b\tc\u0007"' }, 'a: "b\\tc\\a\\""\n'],
    [
      'folds behind column 80, at a space',
      { message: `${'word '.repeat(20)}end` },
      `message: ${'word '.repeat(14)}word\n  ${'word '.repeat(5)}end\n`,
    ],
  ];
  for (const [what, value, text] of examples) {
    it(what, () => expect(goYaml(value)).to.equal(text));
  }

  it('writes what reads as the same value', () => {
    fc.assert(
      fc.property(jsonObjects, (value) => {
        const read = parse(goYaml(value), { version: '1.2' });
        expect(read).to.deep.equal(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 500 },
    );
  });
});

describe('compareYamlKeys', () => {
  const sortedLists: readonly (readonly string[])[] = [
    ['apiVersion', 'items', 'kind', 'metadata'],
    ['a', 'b', 'ba'],
    ['a1', 'a2', 'a10', 'a010b'],
    ['app', 'app.kubernetes.io/name', 'app2', 'apple'],
    ['-', '1', '2a', '02', '10', 'a'],
    ['b8-1', 'b8-10', 'b80'],
  ];
  for (const sorted of sortedLists) {
    it(`sorts ${sorted.join(' < ')}`, () => {
      expect(sorted.toReversed().sort(compareYamlKeys)).to.deep.equal(sorted);
    });
  }

  it('tells of any two different keys which is first, and of no key that it is before itself', () => {
    const keys = fc.string({ unit: fc.constantFrom('a', 'b', '0', '1', '9', '-', '.', '/') });
    fc.assert(
      fc.property(keys, keys, (a, b) => {
        expect(Math.sign(compareYamlKeys(a, b))).to.equal(0 - Math.sign(compareYamlKeys(b, a)));
        expect(compareYamlKeys(a, b) === 0).to.equal(a === b);
      }),
    );
  });
});
