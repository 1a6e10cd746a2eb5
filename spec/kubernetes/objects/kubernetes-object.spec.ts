import { expect } from 'chai';
import {
  isDnsLabel,
  keyOf,
  nameOfKey,
  objectMetadata,
  parseJson,
  propertyOf,
  resourceVersionOf,
} from '#lib/kubernetes/objects/kubernetes-object.ts';

describe('nameOfKey', () => {
  for (const [key, name] of [
    ['shop/web', { namespace: 'shop', name: 'web' }],
    ['node-1', { name: 'node-1' }],
  ] as const) {
    it(`tells what ${key} means, as keyOf writes it`, () => {
      expect(nameOfKey(key)).to.deep.equal(name);
      expect(keyOf(name)).to.equal(key);
    });
  }
});

describe('objectMetadata', () => {
  it('keys objects by namespace and name', () => {
    const metadata = { name: 'a', namespace: 'ns', resourceVersion: '7' };
    expect(objectMetadata({ metadata })).to.deep.equal({ key: 'ns/a', version: 7 });
    expect(objectMetadata({ metadata: { name: 'a' } })).to.deep.equal({ key: 'a', version: Number.NaN });
  });

  it('knows no order of versions that are no exact numbers', () => {
    for (const resourceVersion of ['', 'x7', '-1', '9007199254740993', 7, null]) {
      expect(objectMetadata({ metadata: { name: 'a', resourceVersion } })?.version).to.be.NaN;
    }
  });

  it('gives nothing for what is no named object', () => {
    for (const object of [undefined, null, 'a', [], {}, { metadata: null }, { metadata: { name: '' } }]) {
      expect(objectMetadata(object)).to.equal(undefined);
    }
  });
});

describe('resourceVersionOf', () => {
  it('gives the version as it was written, where there is one', () => {
    expect(resourceVersionOf({ metadata: { resourceVersion: '007' } })).to.equal('007');
    expect(resourceVersionOf({ metadata: { resourceVersion: '' } })).to.equal(undefined);
    expect(resourceVersionOf({})).to.equal(undefined);
  });
});

describe('propertyOf', () => {
  it('sees what an object has itself', () => {
    expect(propertyOf({ a: 1 }, 'a')).to.equal(1);
    expect(propertyOf({}, 'toString')).to.equal(undefined);
    expect(propertyOf(JSON.parse('{"__proto__":"x"}'), '__proto__')).to.equal('x');
    expect(propertyOf('text', 'length')).to.equal(undefined);
  });
});

describe('parseJson', () => {
  it('reads JSON, and gives nothing for a text that is none', () => {
    expect(parseJson('{"a":[1,null]}')).to.deep.equal({ a: [1, null] });
    for (const text of ['', '{', 'a', '{"a":1}\n{}']) expect(parseJson(text), text).to.equal(undefined);
  });
});

describe('isDnsLabel', () => {
  for (const text of ['a', '0', 'kube-system', 'a--b', 'a'.repeat(63)])
    it(`takes ${text.slice(0, 20)}`, () => expect(isDnsLabel(text)).to.equal(true));

  for (const text of ['', '-a', 'a-', 'A', 'a.b', 'a_b', 'a\n', 'ä', 'a'.repeat(64)])
    it(`takes no ${JSON.stringify(text.slice(0, 20))}`, () => expect(isDnsLabel(text)).to.equal(false));
});
