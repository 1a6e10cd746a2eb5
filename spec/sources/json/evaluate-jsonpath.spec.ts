import { expect } from 'chai';
import { evaluate, findValues } from '#lib/sources/json/evaluate-jsonpath.ts';
import { parseExpression, parseJsonPath } from '#lib/sources/json/parse-jsonpath.ts';
import type { Json } from '#lib/sources/json/read-json.ts';

const SHOP = JSON.parse(`{
  "a": 6, "b": 4, "my-key": 1, "x.y": 2, "it's": 3, "empty": [], "none": null, "text": "abc", "yes": true,
  "list": [10, 20, 30, 40],
  "nodes": [{"name": "n1", "load": 0.5, "up": true}, {"name": "n2", "load": 1.5}, {"name": "m3", "load": 4, "up": false}],
  "deep": {"load": 2, "within": {"load": 3, "n": [1, [2, 3]]}},
  "__proto__": {"load": 7}
}`) as Json;

describe('findValues', () => {
  const paths: readonly (readonly [string, readonly Json[]])[] = [
    ['$', [SHOP]],
    ['$.a', [6]],
    [' $.a ', [6]],
    ['$.my-key', [1]],
    ["$['x.y']", [2]],
    ['$["it\'s"]', [3]],
    ["$['it\\'s']", [3]],
    ["$['a','b']", [6, 4]],
    ['$.deep.within.load', [3]],
    ['$.list[0]', [10]],
    ['$.list[-1]', [40]],
    ['$.list[9]', []],
    ['$.list[0,2]', [10, 30]],
    ['$.list[1:3]', [20, 30]],
    ['$.list[:2]', [10, 20]],
    ['$.list[-2:]', [30, 40]],
    ['$.list[::2]', [10, 30]],
    ['$.list[::-1]', [40, 30, 20, 10]],
    ['$.list[3:1:-1]', [40, 30]],
    ['$.list[1:9]', [20, 30, 40]],
    ['$.list[-9:2]', [10, 20]],
    ['$.list[2:1]', []],
    ['$.list[9:]', []],
    ['$.list[9::-1]', [40, 30, 20, 10]],
    ['$.list[1::-1]', [20, 10]],
    ['$.list[-1:-3:-1]', [40, 30]],
    ['$.list[-9::-1]', []],
    ['$.list[3:-9:-2]', [40, 20]],
    ['$.list[:1:-1]', [40, 30]],
    ['$.list[:9:-1]', []],
    ['$.text[0:1]', []],
    ['$.list[-4]', [10]],
    ['$.list[-5]', []],
    ["$.list['0']", []],
    ['$.deep[0]', []],
    ['$.list[*]', [10, 20, 30, 40]],
    ['$.list.*', [10, 20, 30, 40]],
    ['$.list[(@.length-1)]', [40]],
    ['$.list.length', [4]],
    ['$.nodes[*].load', [0.5, 1.5, 4]],
    ['$.nodes..load', [0.5, 1.5, 4]],
    ['$..within.load', [3]],
    ["$.deep..['load']", [2, 3]],
    ['$.nodes[?(@.load > 1)].name', ['n2', 'm3']],
    ['$.nodes[?(@.up)].name', ['n1']],
    ['$.nodes[?(@.load > 1 && @.name != "m3")].load', [1.5]],
    ["$.nodes[?(@.name =~ '^n\\\\d$')].load", [0.5, 1.5]],
    ['$.nodes[?(not(@.up))].name', ['n2', 'm3']],
    ['$.nodes[?(key(@) == 1)].load', [1.5]],
    ['$.nodes[?(@.load == $.deep.within.n[0] / 2)].name', ['n1']],
    ['$.nodes[?(@.none > 1)]', []],
    ['$.nodes[?(@.name > 1)]', []],
    ['$.nodes[?@.load == 4].name', ['m3']],
    ['$.nodes[0,1].load', [0.5, 1.5]],
    ['$.text.length', []],
    ['$.none', [null]],
    ['$.constructor', []],
    ['$.__proto__.load', [7]],
    ['$.toString.length', []],
    ['$.a.b', []],
  ];
  for (const [path, values] of paths)
    it(`finds ${path}`, () => {
      expect(findValues(parseJsonPath(path), SHOP)).to.deep.equal(values);
    });

  it('fails when a path takes too much work', () => {
    let nested: Json = 1;
    for (let depth = 0; depth < 12; depth++) nested = [nested, nested];
    expect(() => findValues(parseJsonPath('$..*..*..*'), nested)).to.throw(/more than 100000 steps$/);
    const many = Array.from({ length: 1000 }, () => 1);
    expect(() => findValues(parseJsonPath('$[?(sum($[*]) > 1)]'), many)).to.throw(/more than 100000 steps$/);
    const pattern = parseJsonPath(`$[?('${'a'.repeat(400)}' =~ '(a+)+b')]`);
    expect(() => findValues(pattern, many)).to.throw(/more than 100000 steps$/);
  });

  it('reckons with how long texts, how wide objects and how large patterns are', () => {
    const ones = Array.from({ length: 5000 }, () => 1);
    const long = (end: string) => 'a'.repeat(100_000) + end;
    const wide = Object.fromEntries(ones.map((_, key) => [`k${key}`, 1]));
    const costly: readonly (readonly [string, Json])[] = [
      ['$.l[?($.a < $.b)]', { l: ones, a: long('a'), b: long('b') }],
      ['$.l[?($.a == $.b)]', { l: ones, a: long('a'), b: long('b') }],
      ['$.l[?(length(b64encode($.a)) > 1)]', { l: ones, a: long('a') }],
      ['$.l[?(size(@) > 1)]', { l: Array.from({ length: 700 }, () => ({ ...wide })) }],
      [`$.l[?($.a =~ '((a?){200}a{200})')]`, { l: ones, a: 'a'.repeat(1000) }],
    ];
    for (const [path, document] of costly)
      expect(() => findValues(parseJsonPath(path), document), path).to.throw(/more than 100000 steps$/);
    const once = { l: ones.slice(0, 400), a: wide }; // 5,000 members are the limit for all of them together
    expect(findValues(parseJsonPath('$.l[?(size($.a) == 5000 && $.a)]'), once)).to.have.lengthOf(400);
  });

  it('visits the deepest document in order', () => {
    const document = JSON.parse(`${'['.repeat(120)}1,2${']'.repeat(120)}`) as Json;
    const numbers = findValues(parseJsonPath('$..*'), document).filter((value) => typeof value === 'number');
    expect(numbers).to.deep.equal([1, 2]);
  });

  it('refuses long patterns from documents', () => {
    const many = Array.from({ length: 200 }, (_, index) => `a${index}`);
    expect(() => findValues(parseJsonPath('$[?("a" =~ @)]'), many)).to.throw(/more than 100000 steps$/);
    expect(findValues(parseJsonPath('$[?("a" =~ @)]'), ['(', 'a', 'a{1000}{1000}'])).to.deep.equal(['a']);
  });
});

describe('evaluate', () => {
  const expressions: readonly (readonly [string, Json])[] = [
    ["ceil($['a'] / $['b'] * 100)", 150],
    ['sum($..load)', 18],
    ['sum($.nodes..load)', 6],
    ['avg($.nodes[*].load)', 2],
    ['sum($.list)', 100],
    ['$.a-$.b', 2],
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['2 ** 3 ** 2', 512],
    ['2 * 3 ** 2', 18],
    ['-$.a + 10', 4],
    ['7 % 4', 3],
    ['1 << 4 | 1', 17],
    ['12 &^ 4', 8],
    ['12 & 6', 4],
    ['5 ^ 1', 4],
    ['256 >> 4', 16],
    ['1 + 2 << 3', 17], // in Go, << has the precedence of *
    ['1 < 2 && 2 < 1 || true', true],
    ['"a" + \'b\'', 'ab'],
    ['"a" < "b" && !("b" < "a") && !("a" < "a")', true],
    ['"a" >= "a" && "b" > "a" && !("a" > "a")', true],
    ['2 <= 2 && 1 <= 2 && !(3 <= 2)', true],
    ['2 >= 2 && 3 >= 2 && !(1 >= 2)', true],
    ['2 < 2 || 2 > 2', false],
    ['1 != 1', false],
    ['$.none != null', false],
    ['$.list == $.list', false],
    ['$.none == $.list', false],
    ['$.list == $.none', false],
    ['null == null', true],
    ['$.text =~ "^b"', false],
    ['7.5 - 0.5', 7],
    ['-7 % 4', -3],
    ['1 << 63 < 0', true],
    ['-1 >> 63', -1],
    ['9007199254740991 & 1', 1],
    ['$.text == "abc"', true],
    ['$.text == 1', false],
    ['$.none == null', true],
    ['!$.yes', false],
    ['length($.list)', 4],
    ['size($.nodes[*])', 3],
    ['length($.text)', 3],
    ['length($.nothing)', 0],
    ['first($.list) + last($.list)', 50],
    ['round(2.5) + round(-2.5) + roundtoeven(2.5) + trunc(-1.5)', 1],
    ['pow10(3) + factorial(4) + exp2(3)', 1032],
    ['floor(log2(1024)) + sqrt(16) + abs(-1)', 15],
    ['floor(PI * 100)', 314],
    ['b64decode("YQ==") == "a" && b64encode("a") == "YQ==" && b64encoden("a") == "YQ"', true],
    ['is_int($.a) && is_array($.list) && is_object($.deep) && is_null($.none) && is_string($.text)', true],
    ['size(parent($.deep.within.load))', 2],
    ['size(root($.deep.load)) == size($)', true],
    ['key($.deep.within)', 'within'],
    ['key($.list[1])', 1],
    ['round(0.5) + round(-0.5) + round(1.4)', 1],
    ['roundtoeven(3.5) * 100 + roundtoeven(-3.5) * 10 + roundtoeven(2.6)', 363],
    ['logb(10) + logb(-8)', 6],
    ['factorial(0) + factorial(1) + factorial(5)', 122],
    ['is_uint(0) && is_uint(7) && !is_uint(-1) && !is_uint(1.5)', true],
    ['is_numeric(1.5) && is_float(1) && is_bool(true)', true],
    ['is_int(1.5) || is_int("1") || is_bool(1) || is_string(1) || is_null(1) || is_numeric("1")', false],
    ['is_array($.deep) || is_object($.list) || is_object(null) || is_array("a")', false],
    ['b64encoden("ab") == "YWI" && b64encoden("abc") == "YWJj" && b64encode("ab") == "YWI="', true],
    ['length($.empty) + length("") + size($.deep)', 2],
    ['first($.nodes[*].load) + last($.nodes[*].load)', 4.5],
    ['first($.nodes[0])', { name: 'n1', load: 0.5, up: true }],
    ['key(parent($.deep.within.load))', 'within'],
    ['size(root($.deep.within.n[1][0])) == size($)', true],
  ];
  for (const [text, value] of expressions)
    it(`computes ${text}`, () => {
      expect(evaluate(parseExpression(text), SHOP)).to.deep.equal(value);
    });

  const broken: readonly (readonly [string, RegExp])[] = [
    ['1 / 0', /^division by zero$/],
    ['1 / ($.a - 6)', /^division by zero$/],
    ['1 % 0', /^division by zero$/],
    ['$.text * 2', /^must be a number, not string$/],
    ['$.nothing + 1', /^a path of the expression matches no value$/],
    ['$.list + 1', /^must be a number, not array$/],
    ['1.5 & 1', /^& requires integers, not 1.5$/],
    ['1 << 64', /^a shift must be by 0 to 63 bits, not 64$/],
    ['1 >> -1', /^a shift must be by 0 to 63 bits, not -1$/],
    ['9007199254740992 & 1', /^& requires integers, not 9007199254740992$/],
    ['true > false', /^boolean and boolean cannot be compared$/],
    ['1 =~ "a"', /^=~ requires two strings$/],
    ['$.text + 1', /^must be a number, not string$/],
    ['1 + $.text', /^must be a number, not string$/],
    ['avg($.empty)', /^avg has no numbers$/],
    ['sum($.nodes[*].name)', /^must be a number, not string$/],
    ['first($.empty)', /^first matches no value$/],
    ['parent($)', /^parent matches no value$/],
    ['key(1)', /^must be a single value of the document$/],
    ['last($.empty)', /^last matches no value$/],
    ['key($)', /^key matches no value$/],
    ['sum(1)', /^must be an array, not number$/],
    ['avg("a")', /^must be an array, not string$/],
    ['size(1)', /^must be a string, an array or an object, not number$/],
    ['size(null)', /^must be a string, an array or an object, not null$/],
    ['b64encode(1)', /^must be a string, not number$/],
    ['pow10(1.5)', /^pow10 requires integers, not 1.5$/],
    ['factorial(2.5)', /^factorial requires integers, not 2.5$/],
    ['parent($.nodes[*].load)', /^must be a single value of the document$/],
    ['1 < "a"', /^number and string cannot be compared$/],
    ["'a' =~ '('", /missing closing|unexpected|parsing/i],
    [`'a' =~ '${'a'.repeat(257)}'`, /^a regular expression must be no longer than 256 characters$/],
  ];
  for (const [text, error] of broken)
    it(`reports the error of ${text.slice(0, 30)}`, () => {
      expect(() => evaluate(parseExpression(text), SHOP)).to.throw(Error, error);
    });
});

describe('parseJsonPath', () => {
  const refused: readonly (readonly [string, string])[] = [
    ['', 'must have "$" at character 1, not the end'],
    ['a.b', 'must have "$" at character 1, not "a.b"'],
    ['$.', 'must have a name or "*" at character 3, not the end'],
    ['$x', 'must have ".", "[" or the end at character 2, not "x"'],
    ['$[', 'must have a name in quotes, an index, "*" or "?" at character 3, not the end'],
    ['$[a]', 'must have a name in quotes, an index, "*" or "?" at character 3, not "a]"'],
    ["$['a", "must have a closing ' at character 5, not the end"],
    ['$[1', 'must have "," or "]" at character 4, not the end'],
    ['$[::0]', 'must have a step other than 0 at character 6, not "]"'],
    ['$[?(@.a >)]', 'must have a value at character 10, not ")]"'],
    ['$[?(@.a = 1)]', 'must have ")" at character 9, not "= 1)]"'],
    ['$[?(process.exit())]', 'must not use "process": neither a path nor a constant'],
    [
      `$${'['.repeat(100)}`,
      'must have a name in quotes, an index, "*" or "?" at character 3, not "[[[[[[[[[[[[[[[[[[[["',
    ],
    [`$[${'('.repeat(100)}`, 'must not be nested deeper than 64 levels'],
    ['$'.padEnd(5000, '.a'), 'must be no longer than 4096 characters'],
  ];
  for (const [text, error] of refused)
    it(`refuses ${JSON.stringify(text.slice(0, 30))}`, () => {
      expect(() => parseJsonPath(text)).to.throw(Error, error);
    });
});

describe('parseExpression', () => {
  const refused: readonly (readonly [string, string])[] = [
    ['', 'must have a value at character 1, not the end'],
    ['1 +', 'must have a value at character 4, not the end'],
    ['1 1', 'must have an operator or the end at character 3, not "1"'],
    ['(1', 'must have ")" at character 3, not the end'],
    ['eval(1)', 'must not call "eval": unknown function'],
    ['constructor', 'must not use "constructor": neither a path nor a constant'],
    ['rand(1)', 'must not call "rand": unknown function'],
    ['1e999', 'must have a smaller number before at character 6, not the end'],
    [`${'-'.repeat(100)}1`, 'must not be nested deeper than 64 levels'],
    ['2 ** '.repeat(100), 'must not be nested deeper than 64 levels'],
  ];
  for (const [text, error] of refused)
    it(`refuses ${JSON.stringify(text.slice(0, 30))}`, () => {
      expect(() => parseExpression(text)).to.throw(Error, error);
    });

  it('reads the longest chain of operators', () => {
    expect(evaluate(parseExpression(`${'1+'.repeat(2000)}1`), null)).to.equal(2001);
  });
});
