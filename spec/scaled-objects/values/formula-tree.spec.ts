import { expect } from 'chai';
import jsep from 'jsep';
import { formulaTree } from '#lib/scaled-objects/values/formula-tree.ts';

describe('formulaTree', () => {
  it('reads words for operators, nil, and predicates', () => {
    expect(formulaTree('not a and b in [nil]')).to.deep.include({
      type: 'BinaryExpression',
      operator: 'and',
    });
    expect(formulaTree('count(a, {# > 1})').type).to.equal('CallExpression');
  });

  for (const text of ['a and b', '(a + '])
    it(`leaves the parser to others as it was, after ${text}`, () => {
      const others = ['not', '#', 'a and b', 'nil', '{a}', 'a + b ^ c ^ d', 'a ?? b + c'];
      const before = others.map((one) => outcome(one));
      outcome(text, formulaTree);
      expect(others.map((one) => outcome(one))).to.deep.equal(before);
      expect(outcome('nil')).to.equal('{"type":"Identifier","name":"nil"}');
      expect(outcome('#')).to.match(/Unexpected/);
    });
});

function outcome(text: string, parse: unknown = jsep): string {
  try {
    return JSON.stringify((typeof parse === 'function' ? (parse as typeof jsep) : jsep)(text));
  } catch (error) {
    return String(error);
  }
}
