import { expect } from 'chai';
import { objectMetadata, propertyOf, resourceVersionOf } from '#lib/kubernetes/object-metadata.ts';

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
