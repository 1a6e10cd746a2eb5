import { encodeLongText, indentedJsonFrame, indentItem } from '#lib/apiserver/encoding/long-text.ts';

/** What the debug endpoints answer. */
export interface DebugAnswer<Item> {
  /** How many there are that were asked for, and how many of them are served, whatever the limit. */
  readonly total: number;
  readonly served: number;
  readonly items: readonly Item[];
}

/** Encodes an answer as indented JSON, in turns. */
export function encodeDebugAnswer({ total, served, items }: DebugAnswer<object>): Promise<Buffer> | Buffer {
  const empty = json({ total, served, items: [] });
  if (items.length === 0) return Buffer.from(`${empty}\n`);
  const frame = indentedJsonFrame(empty);
  return encodeLongText({ ...frame, after: `${frame.after}\n` }, items, (item) => indentItem(json(item)));
}

function json(value: object): string {
  return JSON.stringify(value, undefined, 2);
}
