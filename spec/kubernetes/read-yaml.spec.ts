import { inspect } from 'node:util';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { stringify } from 'yaml';
import { readYaml, readYamlDocuments, YamlError } from '#lib/kubernetes/read-yaml.ts';

describe('readYaml', () => {
  it('reads its own output', () => {
    const value = fc.jsonValue({ maxDepth: 3 }).filter((json) => !JSON.stringify(json).includes('-0'));
    fc.assert(
      fc.property(value, (json) => {
        expect(readYaml(stringify(json))).to.deep.equal(json);
      }),
    );
    expect(readYaml('')).to.equal(null);
    expect(readYaml(`${'['.repeat(256)}${']'.repeat(256)}`)).to.be.an('array');
  });

  for (const [what, text, message] of [
    ['a key twice', 'a: 1\nb: 2\na: 3\n', 'duplicate key in line 3'],
    ['a key twice deep inside', 'a:\n- {b: 1, c: {d: 1, e: 2, d: 3}}\n', 'duplicate key in line 2'],
    ['a text that does not end', 'a: "secret\n', 'missing char in line 2'],
    ['a list that does not end', 'a: [1\n', 'bad indent in line 2'],
    ['two documents', 'a: 1\n---\nb: 2\n', 'multiple docs in line 2'],
    [
      'one level too many',
      `\n${'['.repeat(257)}${']'.repeat(257)}`,
      'more than 256 levels of nesting in line 2',
    ],
    ['levels without an end', '{a: '.repeat(8192), 'more than 256 levels of nesting in line 1'],
  ] as const) {
    it(`refuses ${what}, with the line but without the content`, () => {
      expect(() => readYaml(text)).to.throw(YamlError, message);
    });
  }

  it('distinguishes keys of different types, and keys of different mappings', () => {
    expect(readYaml('a: {1: b, "1": c}')).to.deep.equal({ a: { 1: 'c' } });
    expect(readYaml('- {a: 1}\n- {a: 2, b: {a: 3}}')).to.deep.equal([{ a: 1 }, { a: 2, b: { a: 3 } }]);
  });

  it('returns the first of several documents with takesFirst', () => {
    expect(readYaml('a: 1\n---\nb: 2\n', { takesFirst: true })).to.deep.equal({ a: 1 });
  });

  it('expands aliases up to the given number', () => {
    const text = 'a: &a [1]\nb: *a\n';
    expect(() => readYaml(text)).to.throw(YamlError, /^bad alias in line 2$/);
    expect(readYaml(text, { maxAliasCount: 100 })).to.deep.equal({ a: [1], b: [1] });
  });

  for (const [what, text, line] of [
    [
      'an alias of nothing, such as a password that begins with *',
      'a: &a [1]\nb: *a\nc: *hunter2secret\n',
      3,
    ],
    ['an alias of what comes behind it', 'a:\n- *hunter2secret\n- &hunter2secret 1\n', 2],
    ['more aliases than it may', `a: &hunter2secret [1]\nb: [${'*hunter2secret ,'.repeat(200)}]\n`, 2],
  ] as const) {
    it(`rejects ${what}, without quoting it`, () => {
      const error = errorOf(() => readYaml(text, { maxAliasCount: 100 }));
      expect(error).to.be.instanceOf(YamlError);
      expect(error?.message).to.equal(`bad alias in line ${line}`);
      expect(error?.name).to.equal('YamlError');
      expect(inspect(error)).not.to.contain('hunter2secret');
    });
  }

  it('reports other errors with the message of the package, without the content', () => {
    const error = errorOf(() => readYaml('%YAML 1.1\n---\na: {<<: hunter2secret}\n'));
    expect(error?.message).to.equal('Merge sources must be maps or map aliases');
    expect(inspect(error)).not.to.contain('hunter2secret');
  });
});

function errorOf(read: () => unknown): Error | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

describe('readYamlDocuments', () => {
  it('reads each document, with the line in which its content begins', () => {
    const documents = readYamlDocuments('# a\n---\na: 1\n---\n\nb:\n- 2\n---\n');
    expect(documents.map(({ line, read }) => [line, read()])).to.deep.equal([
      [3, { a: 1 }],
      [6, { b: [2] }],
      [8, null],
    ]);
    expect(readYamlDocuments('')).to.deep.equal([]);
  });

  it('refuses an invalid document alone, with the line but without the content', () => {
    const [first, second, third] = readYamlDocuments('a: 1\n---\nb: 1\nb: secret\n---\nc: *secret\n');
    expect(first?.read()).to.deep.equal({ a: 1 });
    expect(() => second?.read()).to.throw(YamlError, /^duplicate key in line 4$/);
    expect(() => third?.read()).to.throw(YamlError, /^bad alias in line 6$/);
  });

  it('expands as many aliases as it is permitted', () => {
    const text = 'a: &a [1]\nb: [*a, *a]\n';
    const read = (maxAliasCount?: number) =>
      readYamlDocuments(text, maxAliasCount === undefined ? {} : { maxAliasCount })[0]?.read();
    expect(() => read()).to.throw(YamlError, 'bad alias in line 2');
    expect(read(100)).to.deep.equal({ a: [1], b: [[1], [1]] });
  });

  it('refuses too many levels in any document', () => {
    const text = `a: 1\n---\n${'['.repeat(257)}${']'.repeat(257)}`;
    expect(() => readYamlDocuments(text)).to.throw(YamlError, 'more than 256 levels of nesting in line 3');
  });
});
