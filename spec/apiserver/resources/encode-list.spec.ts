import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { documentJson, type Encoding } from '#lib/apiserver/encoding/document.ts';
import { field, MessageType } from '#lib/apiserver/encoding/message-type.ts';
import { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { TEXT } from '#lib/apiserver/encoding/value-types.ts';
import { gzip, type ResponseBody } from '#lib/apiserver/http/response-body.ts';
import { encodeList, type ObjectList } from '#lib/apiserver/resources/encode-list.ts';
import { objectFields, writeObject } from '#lib/apiserver/resources/encode-object.ts';
import { select, selectedObjects } from '#lib/apiserver/resources/selection.ts';
import { TimeSlices } from '#lib/concurrency/event-loop.ts';
import { eventually } from '#spec/support/eventually.ts';
import { trickyTexts } from '#spec/support/json-values.ts';
import { collectGarbage } from '#spec/support/open-resources.ts';
import { Thing } from '#spec/support/served-things.ts';

const TYPE = { kind: 'ThingList', apiVersion: 'lab.example/v1' };
const things = fc
  .tuple(
    fc.stringMatching(/^[a-z]{1,8}$/),
    fc.nat({ max: 9 }),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), trickyTexts),
  )
  .map(([name, size, labels]) => new Thing(name, { size, labels, namespace: 'n' }));
const blocks = fc.array(fc.array(things, { maxLength: 5 }), { maxLength: 4 });
const isWanted = (thing: object) => thing instanceof Thing && thing.size % 2 === 0;

const BROKEN = new MessageType<Thing>({
  fields: {
    half: field(TEXT, { number: 2, of: () => 'half of it' }),
    rest: field(TEXT, {
      number: 3,
      of: () => {
        throw new RangeError('Invalid time value');
      },
    }),
  },
});

/** Has a value that the encoder does not support. */
class BrokenThing extends Thing {
  override get contentType(): typeof BROKEN {
    return BROKEN;
  }
}

describe('encodeList', () => {
  it('puts together the JSON that encoding everything again would give', async () => {
    await fc.assert(
      fc.asyncProperty(blocks, async (all) => {
        for (const selection of [select(all), select(all, isWanted), select(all)]) {
          const parts = await encode({ metadata: {}, selection }, { format: 'json', isPretty: false });
          const items = selectedObjects(selection).map(objectFields);
          const plain = documentJson({ ...TYPE, fields: () => ({ metadata: {}, items }) });
          const text = bytesOf(parts).toString();
          expect(text.endsWith('}\n')).to.equal(true);
          expect(text).to.equal(
            `${JSON.stringify(JSON.parse(text)).replace(/[<>&\u2028\u2029]/g, escaped)}\n`,
          );
          expect(JSON.parse(text)).to.deep.equal(JSON.parse(JSON.stringify(plain)));
        }
      }),
    );
  });

  it('puts together the protobuf that encoding everything again would give', async () => {
    await fc.assert(
      fc.asyncProperty(blocks, async (all) => {
        for (const selection of [select(all), select(all, isWanted)]) {
          const parts = await encode({ metadata: {}, selection }, { format: 'protobuf', isPretty: false });
          const items = new ProtobufWriter();
          for (const thing of selectedObjects(selection)) items.message(2, () => writeObject(items, thing));
          expect(bytesOf(parts).includes(items.finish())).to.equal(true);
        }
      }),
    );
  });

  it('leaves out an object that cannot be encoded, alone, in every format', async () => {
    const maybeBroken = fc.tuple(things, fc.boolean()).map(([thing, isBroken]) => {
      if (!isBroken) return thing;
      const { name, size, labels, namespace } = thing;
      return new BrokenThing(name, { size, labels, namespace });
    });
    const formats = fc.constantFrom(
      ...[{ format: 'json', isPretty: false } as const, { format: 'json', isPretty: true } as const],
      ...[{ format: 'protobuf', isPretty: false } as const, { format: 'yaml', isPretty: false } as const],
    );
    const all = fc.array(fc.array(maybeBroken, { maxLength: 5 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(all, formats, async (mixed, encoding) => {
        const whole = mixed.map((block) => block.filter((thing) => !(thing instanceof BrokenThing)));
        for (const desired of [undefined, isWanted]) {
          const [encoded, expected] = await Promise.all(
            [mixed, whole].map(async (each) => {
              const list = { metadata: {}, selection: select(each, desired) };
              return bytesOf(await encode(list, encoding));
            }),
          );
          const hasItems = whole.flat().some((thing) => !desired || desired(thing));
          if (hasItems || encoding.format === 'protobuf')
            expect(encoded?.toString()).to.equal(expected?.toString());
          else expect(encoded?.includes('name')).to.equal(false);
        }
      }),
    );
  });

  it('returns the same list compressed, repeatedly', async () => {
    const encodings = fc.record({
      format: fc.constantFrom('json' as const, 'protobuf' as const),
      isPretty: fc.constant(false),
    });
    const metadata = fc.record({ resourceVersion: fc.constantFrom(undefined, '7', '8') });
    await fc.assert(
      fc.asyncProperty(blocks, encodings, fc.array(metadata), async (all, encoding, metas) => {
        for (const each of metas) {
          for (const selection of [select(all), select(all.slice(0, 1)), select(all, isWanted)]) {
            const body = await encode({ metadata: each, selection }, encoding);
            const compressed = Buffer.concat((await body.gzipped?.()) ?? (await gzip(body.pieces)));
            expect(gunzipSync(compressed).equals(bytesOf(body))).to.equal(true);
          }
        }
      }),
    );
  });

  it('compresses the whole, and its first block alone, once for all requests', async () => {
    const all = [[new Thing('a')], [new Thing('b')]];
    const gzippedOf = async (some: typeof all) => {
      const list = { metadata: {}, selection: select(some) };
      return (await encode(list, { format: 'json', isPretty: false })).gzipped?.();
    };
    const [whole, alone] = [await gzippedOf(all), await gzippedOf(all.slice(0, 1))];
    expect(await gzippedOf(all)).to.equal(whole);
    expect(await gzippedOf(all.slice(0, 1))).to.equal(alone);
    expect(alone).not.to.equal(whole);
    expect(await gzippedOf([...all, [new Thing('c')]])).not.to.equal(whole);
  });

  it('frees the compressed whole with any of its blocks, although the first is still served', async () => {
    const first = [new Thing('a')];
    const ofTwo = async () => {
      const other = [new Thing('b')];
      const selection = select([first, other]);
      const body = await encode({ metadata: {}, selection }, { format: 'json', isPretty: false });
      return [new WeakRef(other), new WeakRef((await body.gzipped?.()) ?? expect.fail())] as const;
    };
    const [other, gzipped] = await ofTwo();
    await eventually(() => {
      collectGarbage();
      return other.deref() === undefined && gzipped.deref() === undefined;
    });
    expect(select([first])).to.have.length(1);
  });

  it('yields while it encodes much, and encodes a block once for concurrent requests', async () => {
    let encoded = 0;
    const many = Array.from(
      { length: 5_000 },
      (_, index) =>
        new (class extends Thing {
          override get contentType() {
            encoded++;
            return super.contentType;
          }
        })(`thing-${index}`),
    );
    const selection = select([many]);
    const lists = [1, 2].map(() => encode({ metadata: {}, selection }, { format: 'json', isPretty: false }));
    let isDone = false;
    const done = Promise.all(lists).then(() => {
      isDone = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isDone).to.equal(false);
    await done;
    expect(encoded).to.equal(5_000);
  });
});

function encode(list: Pick<ObjectList, 'metadata' | 'selection'>, encoding: Encoding): Promise<ResponseBody> {
  const resource = { kind: 'Thing', listKind: 'ThingList', columns: [] };
  return encodeList(
    { group: 'lab.example', version: 'v1', resource, ...list },
    { ...encoding, conversion: undefined },
    { query: new URLSearchParams(), signal: () => new AbortController().signal, slices: new TimeSlices() },
  );
}

function bytesOf({ pieces }: ResponseBody): Buffer {
  return Buffer.concat(pieces);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
