import { unescape as decodeBytes } from 'node:querystring';

/**
 * Decodes a part of a URL as Go does: whatever bytes it stands for. Those that are no UTF-8 become U+FFFD, which no
 * name and no label has, so that what they stand in is looked for and refused instead of left out.
 *
 * @returns `undefined` where a percent sign has no two hexadecimal digits behind it
 */
export function percentDecode(text: string): string | undefined {
  if (/%(?![\da-f]{2})/i.test(text)) return undefined;
  return text.includes('%') ? decodeBytes(text) : text;
}
