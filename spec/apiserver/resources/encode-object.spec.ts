import { expect } from 'chai';
import fc from 'fast-check';
import { encodeDocument } from '#lib/apiserver/encoding/document.ts';
import { goJson } from '#lib/apiserver/encoding/json.ts';
import {
  encodeObject,
  objectDocument,
  objectFields,
  objectJsonText,
} from '#lib/apiserver/resources/encode-object.ts';
import { trickyTexts } from '#spec/support/json-values.ts';
import { Thing } from '#spec/support/served-things.ts';

const TYPE = { kind: 'Thing', apiVersion: 'lab.example/v1' };

const texts = fc.oneof(trickyTexts, fc.stringMatching(/^[a-z./-]{1,8}$/));
/** JavaScript puts integer keys first, in any object. */
const keys = texts.filter((key) => !/^\d+$/.test(key));
const labels = fc.dictionary(keys, texts);
const things = fc
  .record({ name: texts, namespace: fc.option(texts, { nil: undefined }), labels, size: fc.nat() })
  .map(({ name, ...parts }) => new Thing(name, parts));

describe('objectJsonText', () => {
  it("is the JSON of the object's fields", () => {
    fc.assert(
      fc.property(things, (thing) => {
        expect(objectJsonText(thing)).to.equal(goJson(objectFields(thing)));
      }),
    );
  });

  it('puts labels in the order of their keys, those that are numbers among them', () => {
    const thing = new Thing('a', { labels: { 9: 'x', a: 'y', 10: 'z', 'a.b': '<' } });
    expect(objectJsonText(thing)).to.include('"labels":{"10":"z","9":"x","a":"y","a.b":"\\u003c"}');
  });
});

describe('encodeObject', () => {
  it('returns the document of the object, in every encoding', async () => {
    const encodings = fc.record({
      format: fc.constantFrom('json' as const, 'yaml' as const, 'protobuf' as const),
      isPretty: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(things, encodings, async (thing, encoding) => {
        const plain = await encodeDocument(objectDocument(thing, TYPE), encoding);
        expect((await encodeObject(thing, TYPE, encoding)).toString()).to.equal(plain.toString());
      }),
    );
  });
});
