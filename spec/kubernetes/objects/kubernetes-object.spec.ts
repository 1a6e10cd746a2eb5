import { expect } from 'chai';
import * as z from 'zod';
import {
  isDnsLabel,
  keyOf,
  nameOfKey,
  objectMetadata,
  parseJson,
  propertyOf,
  readObject,
  resourceVersionOf,
} from '#lib/kubernetes/objects/kubernetes-object.ts';
import { expectSameAsSchema } from '#spec/support/mutated-objects.ts';

describe('nameOfKey', () => {
  for (const [key, name] of [
    ['shop/web', { namespace: 'shop', name: 'web' }],
    ['node-1', { name: 'node-1' }],
  ] as const) {
    it(`parses ${key}, as keyOf formats it`, () => {
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

  it('has NaN for versions that are not exact numbers', () => {
    for (const resourceVersion of ['', 'x7', '-1', '9007199254740993', 7, null]) {
      expect(objectMetadata({ metadata: { name: 'a', resourceVersion } })?.version).to.be.NaN;
    }
  });

  it('is undefined for anything but a named object', () => {
    for (const object of [undefined, null, 'a', [], {}, { metadata: null }, { metadata: { name: '' } }]) {
      expect(objectMetadata(object)).to.equal(undefined);
    }
  });
});

const METADATA = {
  ...{ name: 'a', namespace: 'n', uid: 'u', resourceVersion: '7', generation: 2 },
  ...{ creationTimestamp: '2026-01-01T00:00:00Z', deletionTimestamp: '2026-01-01T00:00:00Z' },
  ...{ labels: { a: 'b' }, annotations: { c: 'd' }, finalizers: ['a/b'] },
  ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u', controller: true }],
};

describe('readObject', () => {
  it('accepts and refuses the same metadata as a schema', () => {
    const text = z.string().nullish();
    const texts = z.record(z.string(), z.string()).nullish();
    const names = { apiVersion: z.string(), kind: z.string(), name: z.string(), uid: z.string() };
    const owner = z.object({
      ...names,
      ...{ controller: z.boolean().optional(), blockOwnerDeletion: z.boolean().optional() },
    });
    const metadata = z.object({
      ...{ name: z.string().min(1), namespace: text, uid: text, resourceVersion: text },
      ...{ generation: z.number().nullish(), creationTimestamp: text, deletionTimestamp: text },
      ...{ labels: texts, annotations: texts },
      finalizers: z.array(z.string()).nullish(),
      ownerReferences: z.array(owner).nullish(),
    });
    expectSameAsSchema(readObject, z.object({ metadata }), [{ metadata: METADATA }]);
  });

  it('returns the object itself, and a copy without the fields of its metadata that are null', () => {
    const object = { metadata: METADATA, spec: null };
    expect(readObject(object)).to.equal(object);
    const nulls = { name: 'a', creationTimestamp: null, labels: null };
    expect(readObject({ metadata: nulls, spec: null })).to.deep.equal({
      metadata: { name: 'a' },
      spec: null,
    });
  });

  for (const [metadata, message] of [
    [undefined, 'no name'],
    [{ name: '' }, 'no name'],
    [{ name: 'a', labels: { app: 1 } }, 'metadata.labels.app is not a string'],
    [{ name: 'a', labels: { ['k'.repeat(64)]: 1 } }, `metadata.labels.${'k'.repeat(63)} is not a string`],
    [{ name: 'a', annotations: [] }, 'metadata.annotations is not an object'],
    [{ name: 'a', generation: '2' }, 'metadata.generation is not a number'],
    [{ name: 'a', finalizers: [null] }, 'metadata.finalizers.0 is not a string'],
    [{ name: 'a', ownerReferences: {} }, 'metadata.ownerReferences is not a list'],
    [
      { name: 'a', ownerReferences: [{ apiVersion: 'v1' }] },
      'metadata.ownerReferences.0.kind is not a string',
    ],
  ] as const)
    it(`refuses an object where ${message}`, () => {
      expect(() => readObject({ metadata })).to.throw(`Cannot read object: ${message}`);
    });
});

describe('resourceVersionOf', () => {
  it('returns the version as it was written, if there is one', () => {
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
  it('parses JSON, and returns undefined for invalid text', () => {
    expect(parseJson('{"a":[1,null]}')).to.deep.equal({ a: [1, null] });
    for (const text of ['', '{', 'a', '{"a":1}\n{}']) expect(parseJson(text), text).to.equal(undefined);
  });
});

describe('isDnsLabel', () => {
  for (const text of ['a', '0', 'kube-system', 'a--b', 'a'.repeat(63)])
    it(`accepts ${text.slice(0, 20)}`, () => expect(isDnsLabel(text)).to.equal(true));

  for (const text of ['', '-a', 'a-', 'A', 'a.b', 'a_b', 'a\n', 'ä', 'a'.repeat(64)])
    it(`rejects ${JSON.stringify(text.slice(0, 20))}`, () => expect(isDnsLabel(text)).to.equal(false));
});
