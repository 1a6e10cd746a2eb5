import type { TimeSlices } from '#lib/concurrency/event-loop.ts';
import { attempt } from './attempt.ts';
import { GrowingBuffer, spareBuffer } from './growing-buffer.ts';

/** What stands around the items of a text. */
export interface Frame {
  readonly before: string;
  readonly between: string;
  readonly after: string;
}

/** In which slices something long is encoded, and until when. */
export interface EncodingPace {
  readonly slices: TimeSlices;
  readonly signal?: AbortSignal | undefined;
}

/** An item takes about as long as so many objects that are encoded for programs, if it is YAML; no item takes longer. */
export const OBJECTS_AN_ITEM = 10;

/**
 * Encodes a text of at least one item, item by item, between which others go on. An item that cannot be encoded is left out.
 *
 * @throws the signal's reason when it aborts meanwhile
 */
export async function encodeLongText<Item>(
  { before, between, after }: Frame,
  items: readonly Item[],
  textOf: (item: Item) => string,
  { slices, signal }: EncodingPace,
): Promise<Buffer> {
  const writer = new GrowingBuffer(spareBuffer());
  writer.text(before);
  let separator = '';
  for (const item of items) {
    const text = attempt(() => textOf(item));
    if (text !== undefined) {
      writer.text(separator + text);
      separator = between;
    }
    if (slices.sliceIsSpent(OBJECTS_AN_ITEM)) await slices.yieldToEventLoop(signal);
  }
  writer.text(after);
  const bytes = writer.finish();
  writer.release();
  return bytes;
}

/** @param empty an object in JSON on one line, of which the last field is an empty list: where the items are to be */
export function plainJsonFrame(empty: string): Frame {
  return { before: empty.slice(0, -']}'.length), between: ',', after: ']}' };
}

/** @param empty the same, indented by two spaces a level */
export function indentedJsonFrame(empty: string): Frame {
  const before = empty.slice(0, -']\n}'.length);
  return { before: `${before}\n    `, between: ',\n    ', after: '\n  ]\n}' };
}

/** An item, indented by two spaces a level, as it stands in an {@link indentedJsonFrame}. */
export function indentItem(json: string): string {
  return json.replaceAll('\n', '\n    ');
}
