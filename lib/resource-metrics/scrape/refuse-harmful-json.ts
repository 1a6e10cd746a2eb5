import { getHeapStatistics } from 'node:v8';
import { ExcessiveAnswer } from './excessive-answer.ts';

/** Shorter texts cannot do harm, whatever they say. */
const HARMLESS_LENGTH = 64 * 1024;

/** How deep lists and objects may lie in one another; a summary needs 8 levels. */
export const MAX_JSON_DEPTH = 32;

/** Summaries have some 20 characters for each value; those of the shortest names more than this. */
const LEAST_CHARACTERS_EACH = 12;

/** What parsing may make of a value: an object of its own, with a name that no other has. */
const MOST_BYTES_EACH = 128;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Refuses a JSON text that would take far more memory parsed than it has characters: one of very many very small or
 * deeply nested values. 64 MB of opening brackets end a process whose heap may have 256 MB.
 *
 * @param heapBytes how large the heap may be; what is parsed is to fit into half of it
 * @throws {ExcessiveAnswer} when the text is such a one
 */
export function refuseHarmfulJson(
  text: string,
  heapBytes: number = getHeapStatistics().heap_size_limit,
): void {
  if (text.length <= HARMLESS_LENGTH) return;
  const values = countValues(text);
  if (values * LEAST_CHARACTERS_EACH > text.length) {
    throw new ExcessiveAnswer('parts', 'the answer is no summary: it has too many parts for its length');
  }
  if (values * MOST_BYTES_EACH > heapBytes / 2) {
    throw new ExcessiveAnswer(
      'parts',
      'the answer has too many parts for the memory that this process may have',
    );
  }
}

/** Near enough: as many as there are commas and beginnings of lists and objects. */
function countValues(text: string): number {
  let values = 0;
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (code === COMMA) values++;
    else if (code === OPENING_BRACE || code === OPENING_BRACKET) {
      values++;
      if (++depth > MAX_JSON_DEPTH) throw tooDeep();
    } else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) depth--;
  }
  return values;
}

/** Where the string ends that begins at an index; with the text, where it does not end. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(index - 1 - backslashes) === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}

function tooDeep(): ExcessiveAnswer {
  const message = `the answer is no summary: its parts lie more than ${MAX_JSON_DEPTH} levels deep in one another`;
  return new ExcessiveAnswer('depth', message);
}
