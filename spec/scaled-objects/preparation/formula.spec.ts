import { expect } from 'chai';
import jsep from 'jsep';
import { compileFormula, formulaTree } from '#lib/scaled-objects/preparation/formula.ts';

const VALUES = { a: 4, b: 2, c: undefined };

describe('compileFormula', () => {
  it('computes the result of equal values once in a row', () => {
    const failing = compileFormula('a + nil');
    const errorWith = (values: Record<string, number | undefined>) => {
      try {
        return expect.fail(`${failing.evaluate(values)}`);
      } catch (error) {
        return error;
      }
    };
    const first = errorWith({ a: 1 });
    expect(errorWith({ a: 1 })).to.equal(first); // the same object
    const second = errorWith({ a: 2 });
    expect(second).to.not.equal(first);
    expect(errorWith({ a: 1 })).to.not.equal(first);
    const sum = compileFormula('a + 1');
    expect([1, 1, 2, 1].map((a) => sum.evaluate({ a }))).to.deep.equal([2, 2, 3, 2]);
    const ofB = compileFormula('a ?? 1');
    expect(ofB.evaluate({ a: undefined })).to.equal(1);
    expect(() => ofB.evaluate({ b: undefined })).to.throw(/unknown name a/);
  });

  for (const [text, result] of [
    ['(a + b) / 2', 3],
    ['a > 3 ? a + b : 1', 6],
    ['max(a, b) - min([a, b])', 2],
    ['count([a, b], {# > 3}) > 0 ? 5 : 0', 5],
    ['sum(map([a, b], {# * 2}))', 12],
    ['c ?? a', 4],
    ['c', undefined],
    ['float(a) ** 2', 16],
    ['a in [4] and not (b == 3) ? round(2.5) : 0', 3],
    ['median([a, b, 9])', 4],
    ['median([a, b])', 3],
    ['mean([a, b, 9])', 5],
    ['one([a, b], {# > 3}) ? 1 : 0', 1],
    ['one([a, b], {# > 1}) ? 1 : 0', 0],
    ['one([a, b], {# > 9}) ? 1 : 0', 0],
    ['any([a, b], {# > 3}) ? 1 : 0', 1],
    ['any([a, b], {# > 9}) ? 1 : 0', 0],
    ['all([a, b], {# > 1}) ? 1 : 0', 1],
    ['all([a, b], {# > 3}) ? 1 : 0', 0],
    ['none([a, b], {# > 9}) ? 1 : 0', 1],
    ['none([a, b], {# > 3}) ? 1 : 0', 0],
    ['len(filter([a, b, 9], {# > 3}))', 2],
    ['find([a, b, 1], {# < 3})', 2],
    ['find([a, b], {# > 9}) ?? 7', 7],
    ['sum([a, b], {# * 10})', 60],
    ['round(-2.5) + ceil(1.2) + floor(1.8) + abs(-3) + int(-1.9)', 2],
    ['a == 4 && "x" == "x" ? 1 : 0', 1],
    ['sum([])', 0],
    ['count([true, a > 9, b == 2])', 2],
    ['len([a, nil])', 2],
    ['round(0.4) + round(1.5)', 2],
    ['float(1.5)', 1.5],
    ['7 % 4 - 2 ^ 3', -5],
    ['2 * b ^ 3 ^ 2 - 2 * b ** 3 ** 2', 0],
    ['2 * b ^ 3', 16],
    ['b + c ?? 5', 7],
    ['b * c ?? c ?? 5 - 1', 9],
    ['(c ?? 0) + (a ?? 0)', 4],
    ['+a - -b', 6],
    ['nil == c ? 1 : 0', 1],
    ['!(a == b) ? 1 : 0', 1],
    ['a != b ? 1 : 0', 1],
    ['b != 2 ? 1 : 0', 0],
    ['5 in [a, b] ? 1 : 0', 0],
    ['a in b ? 1 : 0', 0],
    ['a == 4 or other > 1 ? 1 : 0', 1],
    ['a == 9 and other > 1 ? 1 : 0', 0],
    ['a == 9 || b == 2 ? 1 : 0', 1],
    ['a == 4 && b == 9 ? 1 : 0', 0],
    ['sum(map([a, b], {sum(map([1, 2], {#})) * #}))', 18],
    ['sum(map([1, 2, 3, 4], {# < 3 ? 1 : 0})) * 1000 + sum(map([1, 2, 3, 4], {# <= 3 ? 1 : 0}))', 2003],
    ['sum(map([1, 2, 3, 4], {# > 3 ? 1 : 0})) * 1000 + sum(map([1, 2, 3, 4], {# >= 3 ? 1 : 0}))', 1002],
  ] as const)
    it(`works out ${text}`, () => {
      expect(compileFormula(text).evaluate(VALUES)).to.equal(result);
    });

  for (const [text, reason] of [
    ['filter([a], {})', /Expected an expression in \{\}/],
    ['filter([a], {# > 3', /Unclosed \{/],
    ['a +', /^error trying to compile custom formula: /],
    ['other', /^error trying to run custom formula: unknown name other$/],
    ['a > b', /^error trying to run custom formula: the result is a boolean, not a number$/],
    ['a / 0', /the result is Infinity, not a number$/],
    ['c + a', /\+ takes numbers, not nil$/],
    ['constructor', /unknown name constructor$/],
    ['a.b', /MemberExpression is not supported$/],
    ['eval(a)', /unknown function eval$/],
    ['toString(a)', /unknown function toString$/],
    ['abs(a, b)', /unknown function abs$/],
    ['max()', /max takes at least one number$/],
    ['min([])', /min takes at least one number$/],
    ['mean([a, "x"])', /mean takes numbers, not string$/],
    ['abs(c)', /abs takes numbers, not nil$/],
    ['all([a])', /unknown function all$/],
    ['all(a, [b])', /unknown function all$/],
    ['map(a, {#})', /map takes a list$/],
    ['any(nil, {#})', /any takes a list$/],
    ['[a](b)', /only functions can be called$/],
    ['a ? 1 : 0', /a condition must be true or false$/],
    ['a - [b]', /- takes numbers, not a list$/],
    ['-"x"', /- takes numbers, not a string$/],
    ['~a', /operator ~ is not supported$/],
    ['a << b', /operator << is not supported$/],
    ['[a]', /the result is a object, not a number$/],
    ['# + 1', /\+ takes numbers, not nil$/],
    [`${'map(['.repeat(60)}`, /compile/],
    ['a'.repeat(2001), /longer than 2000 characters/],
  ] as const)
    it(`rejects ${text.slice(0, 30)}`, () => {
      expect(() => compileFormula(text).evaluate(VALUES)).to.throw(reason);
    });

  it('ends lists within lists', () => {
    const list = `[${Array.from({ length: 40 }, (_, index) => index).join(',')}]`;
    const nested = `sum(map(${list}, {sum(map(${list}, {sum(map(${list}, {#}))}))}))`;
    expect(() => compileFormula(nested).evaluate({})).to.throw('more than 10000 steps');
  });
});

describe('formulaTree', () => {
  it('reads words for operators, nil, and predicates', () => {
    expect(formulaTree('not a and b in [nil]')).to.deep.include({
      type: 'BinaryExpression',
      operator: 'and',
    });
    expect(formulaTree('count(a, {# > 1})').type).to.equal('CallExpression');
  });

  for (const text of ['a and b', '(a + '])
    it(`restores the configuration of jsep after ${text}`, () => {
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
