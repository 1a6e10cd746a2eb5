import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { JsonObject } from '#lib/apiserver/encoding/json.ts';
import { writeYaml } from '#lib/apiserver/encoding/yaml.ts';
import { jsonObjects } from '#spec/support/json-values.ts';

describe('writeYaml', () => {
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
      'quotes indicators',
      { a: 'b: c', d: '#e', f: "'g' #h", i: '*', j: '- k' },
      `a: "b: c"\nd: "#e"\nf: "'g' #h"\ni: "*"\nj: "- k"\n`,
    ],
    [
      'writes lines as a literal block',
      { a: 'b\n\nc', d: 'e\n', f: 'g\n\n' },
      'a: |-\n  b\n\n  c\nd: |\n  e\nf: |+\n  g\n\n',
    ],
    [
      'quotes what go-yaml, or YAML 1.1, reads as a number, an end of a document or a merge key',
      { a: '0o14', b: '0X1F', c: '1_0e2', d: '---', e: '... ', f: '010', '<<': '=' },
      '"<<": "="\na: "0o14"\nb: "0X1F"\nc: "1_0e2"\nd: "---"\ne: "... "\nf: "010"\n',
    ],
    [
      'escapes what breaks lines in YAML 1.1 alone',
      { a: 'b\u0085', c: '\u2028d', e: '\u2029', f: '\ufeffg', h: '\u{1f600}\u2028' },
      'a: "b\\u0085"\nc: "\\u2028d"\ne: "\\u2029"\nf: "\\ufeffg"\nh: "\u{1f600}\\u2028"\n',
    ],
    ['escapes what cannot be printed', { a: 'b\tc\u0007"' }, 'a: "b\\tc\\u0007\\""\n'],
    [
      'folds behind column 80, at a space',
      { message: `${'word '.repeat(20)}end` },
      `message: ${'word '.repeat(13)}word\n  ${'word '.repeat(6)}end\n`,
    ],
  ];
  for (const [what, value, text] of examples) {
    it(what, () => expect(writeYaml(value)).to.equal(text));
  }

  it('writes what reads as the same value', () => {
    fc.assert(
      fc.property(jsonObjects, (value) => {
        const text = writeYaml(value);
        for (const version of ['1.1', '1.2'] as const)
          expect(parse(text, { version })).to.deep.equal(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 500 },
    );
  });
});
