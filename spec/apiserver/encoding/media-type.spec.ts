import { expect } from 'chai';
import { NO_CONVERSION, negotiate, parseAccept } from '#lib/apiserver/encoding/media-type.ts';
import { OBJECT_RESTRICTIONS } from '#lib/apiserver/resources/conversions.ts';

const TABLE = 'as=Table;v=v1;g=meta.k8s.io';

describe('negotiate', () => {
  const formats: readonly [string, string | undefined][] = [
    ['', 'json'],
    ['*/*', 'json'],
    ['application/*', 'json'],
    ['text/html', undefined],
    ['text/html,*/*;q=0.1', 'json'],
    ['application/yaml', 'yaml'],
    ['application/vnd.kubernetes.protobuf, */*', 'protobuf'],
    ['application/yaml;q=0.5,application/json;q=0.1', 'yaml'],
    ['application/json;charset=utf-8', 'json'],
    ['application/json;stream=watch', 'json'],
    ['application/yaml;stream=watch', undefined],
    ['application/json;stream=other', undefined],
    ['application/json;sv=v1', undefined],
    ['application/cbor', undefined],
  ];
  for (const [header, format] of formats) {
    it(`responds to ${header || 'nothing'} with ${format ?? 'a refusal'}`, () => {
      expect(negotiate(header, NO_CONVERSION)?.format).to.equal(format);
    });
  }

  it('ignores clauses with a conversion that the endpoint does not allow', () => {
    expect(negotiate(`application/json;${TABLE}`, NO_CONVERSION)).to.equal(undefined);
    expect(negotiate(`application/yaml;${TABLE},application/json`, NO_CONVERSION)?.format).to.equal('json');
  });

  it('returns the requested conversion', () => {
    const requested = negotiate(`application/json;${TABLE}`, OBJECT_RESTRICTIONS);
    expect(requested?.conversion).to.deep.equal({ kind: 'Table', version: 'v1', group: 'meta.k8s.io' });
  });

  it('makes no Table in protobuf, but partial metadata', () => {
    const protobuf = 'application/vnd.kubernetes.protobuf';
    expect(negotiate(`${protobuf};${TABLE}`, OBJECT_RESTRICTIONS)).to.equal(undefined);
    const partial = 'as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io';
    expect(negotiate(`${protobuf};${partial}`, OBJECT_RESTRICTIONS)?.format).to.equal('protobuf');
    expect(negotiate('application/json;as=Foo;v=v1;g=meta.k8s.io', OBJECT_RESTRICTIONS)).to.equal(undefined);
    expect(negotiate('application/json;as=Table;v=v2;g=meta.k8s.io', OBJECT_RESTRICTIONS)).to.equal(
      undefined,
    );
  });

  it('understands pretty and the server version as parameters', () => {
    expect(negotiate('application/json;pretty=1', NO_CONVERSION)?.isPretty).to.equal(true);
    expect(negotiate('application/json;pretty=0', NO_CONVERSION)?.isPretty).to.equal(false);
    expect(negotiate('application/json;sv=v1', OBJECT_RESTRICTIONS)?.format).to.equal('json');
  });
});

describe('parseAccept', () => {
  const orders: readonly [string, string, readonly string[]][] = [
    ['by quality', 'a/b;q=0.1,c/d;q=0.5,e/f', ['e/f', 'c/d', 'a/b']],
    ['as they come where qualities are equal', 'a/b,c/d,e/f;q=1', ['a/b', 'c/d', 'e/f']],
    ['a type before a wildcard, whatever their qualities', '*/*,a/b;q=0.1', ['a/b', '*/*']],
    ['a subtype before a wildcard', 'a/*,a/b', ['a/b', 'a/*']],
    ['a quality that is no number last', 'a/b;q=x,c/d;q=0.1', ['c/d', 'a/b']],
    ['not without a subtype', 'a,b/,/c,*', ['/c', '*/*']],
    ['not with two slashes', 'a/b/c,d/e', ['d/e']],
    ['trimmed', ' a/b ; q=0.5 ,\tc/d', ['c/d', 'a/b']],
    ['none of nothing', '', []],
  ];
  for (const [what, header, order] of orders) {
    it(`orders clauses ${what}: ${header}`, () => {
      expect(parseAccept(header).map(({ type, subtype }) => `${type}/${subtype}`)).to.deep.equal(order);
    });
  }

  it('has the parameters of a clause, but for its quality and what makes no sense', () => {
    const [clause] = parseAccept('a/b;q=0.5; as=Table ;v=v1;x;y=;z=1=2');
    expect([...(clause?.parameters ?? [])]).to.deep.equal([
      ['as', 'Table'],
      ['v', 'v1'],
    ]);
  });

  it('sorts few clauses like Go, where the relation has cycles', () => {
    const order = parseAccept('*/*;q=1,a/b;q=0.1,c/*;q=0.5').map(({ type }) => type);
    expect(order).to.deep.equal(['c', 'a', '*']);
  });

  it('orders many clauses, too: concrete ones first, then by quality, then as they come', () => {
    const header = ['*/*', 'x/*', ...numbered(7, 'q=0.5'), ...numbered(7, 'q=0.9')].join(',');
    expect(
      parseAccept(header).map(({ type, subtype, quality }) => `${type}/${subtype} ${quality}`),
    ).to.deep.equal([
      ...numbered(7, 'q=0.9').map((clause) => `${clause.split(';')[0]} 0.9`),
      ...numbered(7, 'q=0.5').map((clause) => `${clause.split(';')[0]} 0.5`),
      'x/* 1',
      '*/* 1',
    ]);
  });

  it('reads nothing of a header of more than 8 KiB', () => {
    expect(parseAccept('a/b,'.repeat(2 * 1024))).to.have.lengthOf(2 * 1024);
    expect(parseAccept('a/b,'.repeat(2 * 1024 + 1))).to.deep.equal([]);
  });

  it('does not move clauses of a long header before more concrete ones', () => {
    const header = ['*/*;q=1', 'a/b;q=0.1', 'c/*;q=0.5', ...numbered(500, 'q=0')].join(',');
    const order = parseAccept(header).map(({ type }) => type);
    expect(order.slice(0, 2)).to.deep.equal(['a', 'a']);
    expect(order.slice(-2)).to.deep.equal(['c', '*']);
  });
});

function numbered(count: number, parameter: string): string[] {
  return Array.from({ length: count }, (_, index) => `a/b${index};${parameter}`);
}
