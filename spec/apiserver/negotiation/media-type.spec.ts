import { expect } from 'chai';
import { NO_CONVERSION, negotiate } from '#lib/apiserver/negotiation/media-type.ts';
import { OBJECT_RESTRICTIONS } from '#lib/apiserver/representation/conversion.ts';

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

  it('passes over clauses that ask for a conversion where there is none', () => {
    expect(negotiate(`application/json;${TABLE}`, NO_CONVERSION)).to.equal(undefined);
    expect(negotiate(`application/yaml;${TABLE},application/json`, NO_CONVERSION)?.format).to.equal('json');
  });

  it('tells which conversion is asked for', () => {
    const asked = negotiate(`application/json;${TABLE}`, OBJECT_RESTRICTIONS);
    expect(asked?.conversion).to.deep.equal({ kind: 'Table', version: 'v1', group: 'meta.k8s.io' });
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
