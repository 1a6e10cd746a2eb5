import { expect } from 'chai';
import { faultOf, findExpressions } from './regular-expressions.ts';

describe('findExpressions', () => {
  it('finds literals, but nothing similar in strings and comments', () => {
    const code = ['const a = /b+/g;', "const c = '/d/'; // /e/", 'const f = g / h / i;'].join('\n');
    expect(findExpressions('a.js', code)).to.deep.equal([
      { path: 'a.js', line: 1, pattern: 'b+', flags: 'g' },
    ]);
  });

  it('finds RegExp of texts and constants, and texts that are compiled', () => {
    const code = [
      "const A = 'a+';",
      `const B = \`(\${A})?\`;`,
      `new RegExp(\`^\${B}$\`, "m");`,
      'RegExp(A);',
      'text.match("c");',
    ].join('\n');
    expect(findExpressions('a.js', code)).to.deep.equal([
      { path: 'a.js', line: 3, pattern: '^(a+)?$', flags: 'm' },
      { path: 'a.js', line: 4, pattern: 'a+', flags: '' },
      { path: 'a.js', line: 5, pattern: 'c', flags: '' },
    ]);
  });

  it('recognizes expressions that are built at run time', () => {
    const [expression] = findExpressions('a.js', 'function f(word) { return new RegExp(word); }');
    expect(expression).to.deep.equal({ path: 'a.js', line: 1, pattern: undefined, flags: '' });
  });
});

describe('faultOf', () => {
  const fault = (pattern: string, flags = '') => faultOf({ pattern, flags });

  for (const pattern of ['^(a|a)*$', '^(a+)+$', '^a: *.*? *$', '\\s+$', '\\s*\\n\\s*']) {
    it(`refuses ${pattern}`, () => {
      expect(fault(pattern)).to.match(/^takes /);
    });
  }

  for (const pattern of ['^a+b+$', '^[^:]*:[^:]*$', '.{1,64}', '[()]']) {
    it(`lets ${pattern} pass`, () => {
      expect(fault(pattern)).to.equal(undefined);
    });
  }

  it('rejects undecidable expressions', () => {
    expect(fault(',(?![^(]*\\))')).to.match(/^cannot be judged: unsupported/);
    expect(faultOf({ pattern: undefined, flags: '' })).to.match(/^is put together/);
  });
});
