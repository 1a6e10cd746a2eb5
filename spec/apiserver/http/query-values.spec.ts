import { expect } from 'chai';
import fc from 'fast-check';
import {
  isTrue,
  parseCount,
  parseQuery,
  percentDecode,
  refuseUnknownParameters,
} from '#lib/apiserver/http/query-values.ts';

describe('parseQuery', () => {
  const queries: readonly [string, readonly (readonly [string, string])[]][] = [
    ['', []],
    [
      'a=1&b=2',
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ],
    [
      'a&b=',
      [
        ['a', ''],
        ['b', ''],
      ],
    ],
    ['a=b=c', [['a', 'b=c']]],
    ['labelSelector=a+in+(b%2Cc)', [['labelSelector', 'a in (b,c)']]],
    ['a=1;b=2&c=3', [['c', '3']]],
    ['a=%zz&b=%41', [['b', 'A']]],
    ['a=%ff%41', [['a', '\ufffdA']]],
    [
      '&&a=1&a=2',
      [
        ['a', '1'],
        ['a', '2'],
      ],
    ],
  ];
  for (const [text, pairs] of queries) {
    it(`reads ${text || 'nothing'}`, () => expect([...parseQuery(text)]).to.deep.equal(pairs));
  }
});

describe('isTrue', () => {
  it('is false only for an absent value, false and 0', () => {
    for (const value of [null, 'false', 'False', 'FALSE', '0']) expect(isTrue(value)).to.equal(false);
    for (const value of ['', '1', 'true', 'no', 'x']) expect(isTrue(value)).to.equal(true);
  });
});

describe('parseCount', () => {
  it('reads whole numbers, and nothing as 0', () => {
    expect([null, '0', '500', '-1', '+7'].map(parseCount)).to.deep.equal([0, 0, 500, -1, 7]);
  });

  const errors: readonly [string, string][] = [
    ['x', 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['', 'strconv.ParseInt: parsing "": invalid syntax'],
    ['1.5', 'strconv.ParseInt: parsing "1.5": invalid syntax'],
    ['9223372036854775808', 'strconv.ParseInt: parsing "9223372036854775808": value out of range'],
  ];
  for (const [text, message] of errors) {
    it(`refuses "${text}" in Go's words`, () => {
      expect(() => parseCount(text))
        .to.throw(message)
        .that.includes({ code: 400, reason: 'BadRequest' });
    });
  }
});

describe('percentDecode', () => {
  it('undoes the encoding of every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        fc.pre(text.isWellFormed());
        expect(percentDecode(encodeURIComponent(text))).to.equal(text);
      }),
    );
  });

  it('reads bytes that are no UTF-8', () => expect(percentDecode('a%ffb')).to.equal('a\ufffdb'));

  it('refuses a percent sign without digits', () => {
    for (const text of ['%', '%4', '%zz', 'a%2gb']) expect(percentDecode(text), text).to.equal(undefined);
  });
});

describe('refuseUnknownParameters', () => {
  const refusing = (query: string, existing: readonly string[]) => () =>
    refuseUnknownParameters(new URLSearchParams(query), existing);

  it('accepts supported parameters, once or repeated, and those that clients add to any query', () => {
    expect(refusing('', [])).not.to.throw();
    expect(refusing('name=a&name=b&pretty=1&timeout=5s', ['namespace', 'name'])).not.to.throw();
  });

  it('refuses the first that means nothing, and names those that do', () => {
    expect(refusing('name=a&nmae=b&x=y', ['namespace', 'name']))
      .to.throw('unknown query parameter "nmae": supported: namespace, name')
      .with.property('code', 400);
    expect(refusing('name=a', [])).to.throw('unknown query parameter "name": none is supported');
    expect(refusing(`${'a'.repeat(200)}=`, [])).to.throw(`"${'a'.repeat(100)}": none is supported`);
  });
});
