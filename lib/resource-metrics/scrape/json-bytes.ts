import { ExcessiveAnswer } from './excessive-answer.ts';

/** How deep lists and objects that nobody asks for may lie in one another; a summary has 8 levels in all. */
export const MAX_JSON_DEPTH = 32;

/** Comes after the last byte of a {@link JsonText}, and cannot stand anywhere in valid JSON. */
export const END = 0;

const [TAB, LINE_FEED, CARRIAGE_RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];
const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * UTF-8 bytes that {@link END} closes, so that nobody has to look whether there is another: a typed array that is asked
 * beyond its end answers several times slower from then on.
 */
export type JsonText = Buffer & { readonly __closed: unique symbol };

/**
 * Joins parts of so many bytes to a text that {@link closeJson} need not copy.
 *
 * @param closed where to; of one byte more at least
 */
export function joinClosed(
  parts: readonly Uint8Array[],
  bytes: number,
  closed: Buffer = Buffer.allocUnsafe(bytes + 1),
): Buffer {
  let end = 0;
  for (const part of parts) {
    closed.set(part, end);
    end += part.length;
  }
  closed[end] = END;
  return closed.subarray(0, end);
}

/** Closes a text; in a copy, unless {@link END} stands behind it already. */
export function closeJson({ buffer, byteOffset, length }: Buffer): JsonText {
  const isClosed =
    byteOffset + length < buffer.byteLength && new Uint8Array(buffer)[byteOffset + length] === END;
  if (isClosed) return Buffer.from(buffer, byteOffset, length + 1) as JsonText;
  const text = joinClosed([new Uint8Array(buffer, byteOffset, length)], length);
  return Buffer.from(text.buffer, text.byteOffset, length + 1) as JsonText;
}

/** The place of the first byte from `position` that is no white space. */
export function afterSpace(text: JsonText, position: number): number {
  let code = text[position];
  while (code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB) {
    code = text[++position];
  }
  return position;
}

/** The place after the string that begins at `position`. */
export function afterString(text: JsonText, position: number): number {
  let code = text[++position] as number;
  while (code !== QUOTE) {
    if (code < SPACE) throw malformed(text, position);
    if (code === BACKSLASH && text[++position] === END) throw malformed(text, position);
    code = text[++position] as number;
  }
  return position + 1;
}

/** The place after the list or object that begins at `position`, and all that is in it. */
export function afterNested(text: JsonText, position: number): number {
  let depth = 0;
  do {
    const code = text[position] as number;
    if (code === QUOTE) position = afterString(text, position);
    else {
      position++;
      if (code >= OPENING_BRACKET) {
        depth += nestingOf(code);
        if (depth > MAX_JSON_DEPTH) throw tooDeep();
      } else if (code === END) throw malformed(text, position - 1);
    }
  } while (depth > 0);
  return position;
}

function nestingOf(code: number): number {
  if (code === OPENING_BRACE || code === OPENING_BRACKET) return 1;
  return code === CLOSING_BRACE || code === CLOSING_BRACKET ? -1 : 0;
}

/** The place after the number, `true`, `false` or `null` that begins at `position`. */
export function afterScalar(text: JsonText, position: number): number {
  while (!isEndOfScalar(text[position] as number)) position++;
  return position;
}

/** Whether no number goes on with this byte. */
export function isEndOfScalar(code: number): boolean {
  return code === COMMA || code <= SPACE || code === CLOSING_BRACE || code === CLOSING_BRACKET;
}

/** What is said of a text that breaks the rules at `position`. */
export function malformed(text: JsonText, position: number): Error {
  const where = position < text.length - 1 ? `at byte ${position}` : 'at its end';
  return new Error(`the answer is not valid JSON ${where}`);
}

function tooDeep(): ExcessiveAnswer {
  const message = `the answer is no summary: its parts lie more than ${MAX_JSON_DEPTH} levels deep in one another`;
  return new ExcessiveAnswer('depth', message);
}
