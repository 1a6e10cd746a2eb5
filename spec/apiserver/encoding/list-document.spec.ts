import { expect } from 'chai';
import fc from 'fast-check';
import { encodeDocument } from '#lib/apiserver/encoding/document.ts';
import type { JsonObject } from '#lib/apiserver/encoding/json.ts';
import {
  encodeListDocument,
  type ListDocument,
  wholeDocument,
} from '#lib/apiserver/encoding/list-document.ts';
import { TimeSlices } from '#lib/concurrency/event-loop.ts';
import { jsonObjects, trickyTexts } from '#spec/support/json-values.ts';

const lists = fc
  .record({
    kind: fc.constantFrom('ThingList', 'Table'),
    metadata: jsonObjects,
    itemsField: fc.constantFrom('items' as const, 'rows' as const),
    items: fc.array(
      fc.oneof(
        jsonObjects,
        trickyTexts.map((text) => ({ text })),
      ),
      { maxLength: 4 },
    ),
    whenEmpty: fc.constantFrom([] as const, null),
  })
  .map(listOf);
const encodings = fc.record({
  format: fc.constantFrom('json' as const, 'yaml' as const, 'protobuf' as const),
  isPretty: fc.boolean(),
});

function listOf({
  kind = 'ThingList',
  metadata = {},
  itemsField = 'items',
  items,
  whenEmpty = [],
}: {
  readonly kind?: string;
  readonly metadata?: JsonObject;
  readonly itemsField?: 'items' | 'rows';
  readonly items: readonly JsonObject[];
  readonly whenEmpty?: readonly [] | null;
}): ListDocument<JsonObject> {
  return {
    ...{ kind, apiVersion: 'lab.example/v1', itemsField, items, whenEmpty },
    head: () => ({ metadata, columnDefinitions: null }),
    itemFields: (item) => item,
    writeHead: (message) => message.string(1, JSON.stringify(metadata)),
    writeItem: (message, item) => message.string(2, JSON.stringify(item)),
  };
}

describe('encodeListDocument', () => {
  const slices = new TimeSlices();

  it('returns the encoding of the whole document, in every encoding', async () => {
    await fc.assert(
      fc.asyncProperty(lists, encodings, async (list, encoding) => {
        const encoded = await encodeListDocument(list, encoding, { slices });
        expect(encoded.toString()).to.equal((await encodeDocument(wholeDocument(list), encoding)).toString());
      }),
    );
  });

  it('throws when its signal aborts', async () => {
    const items = Array.from({ length: 2_000 }, () => ({ name: 'a' }));
    const reason = new Error('gone');
    for (const format of ['json', 'protobuf'] as const) {
      const leaving = new AbortController();
      const encoded = encodeListDocument(
        listOf({ items }),
        { format, isPretty: false },
        { slices, signal: () => leaving.signal },
      );
      const outcome = encoded.catch((error: unknown) => error);
      await new Promise((resolve) => setImmediate(resolve));
      leaving.abort(reason);
      expect(await outcome).to.equal(reason);
    }
  });

  it('yields to other work', async () => {
    const items = Array.from({ length: 1_000 }, (_, index) => ({ name: `thing-${index}` }));
    for (const format of ['json', 'yaml', 'protobuf'] as const) {
      let isDone = false;
      const done = encodeListDocument(listOf({ items }), { format, isPretty: false }, { slices }).then(() => {
        isDone = true;
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(isDone).to.equal(false);
      await done;
    }
  });
});
