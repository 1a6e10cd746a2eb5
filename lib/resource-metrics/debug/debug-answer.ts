import { encodeLongText, indentedJsonFrame, indentItem } from '#lib/apiserver/encoding/long-text.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import { inOrder, OBJECTS_A_TURN } from '#lib/time/turn.ts';

/** What the debug endpoints answer. */
export interface DebugAnswer<Item> {
  /** How many there are that were asked for, and how many of them are served, whatever the limit. */
  readonly total: number;
  readonly served: number;
  readonly items: readonly Item[];
}

/**
 * Encodes an answer as indented JSON, in turns; long ones one after the other.
 *
 * @throws the signal's reason when it aborts meanwhile
 */
export function encodeDebugAnswer(
  { total, served, items }: DebugAnswer<object>,
  signal?: AbortSignal,
): Promise<Buffer> {
  const empty = json({ total, served, items: [] });
  if (items.length === 0) return Promise.resolve(Buffer.from(`${empty}\n`));
  const { before, between, after } = indentedJsonFrame(empty);
  const frame = { before, between, after: `${after}\n` };
  const encode = () => encodeLongText(frame, items, (item) => indentItem(json(item)), signal);
  return items.length <= OBJECTS_A_TURN ? encode() : inOrder(encode, signal);
}

function json(value: object): string {
  return printableLines(JSON.stringify(value, undefined, 2)); // who asks by curl reads it in a terminal
}
