/** Shorter texts cannot do harm, whatever they say. */
const HARMLESS_LENGTH = 1024 * 1024;

/** Summaries have some 20 characters for each field, object and list; those of the shortest names more than this. */
const LEAST_CHARACTERS_EACH = 12;

const [OPENING_BRACE, OPENING_BRACKET, COLON, QUOTE] = [0x7b, 0x5b, 0x3a, 0x22];

/**
 * Refuses a JSON text of very many very small or deeply nested parts, of which parsing would make objects of up to 25
 * times its size: 64 MB of opening brackets end a process whose heap may have 256 MB.
 *
 * @throws when the text is such a one
 */
export function refuseDense(text: string): void {
  if (text.length <= HARMLESS_LENGTH) return;
  let parts = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === OPENING_BRACE || code === OPENING_BRACKET) parts++;
    else if (code === COLON && text.charCodeAt(index - 1) === QUOTE) parts++;
  }
  if (parts * LEAST_CHARACTERS_EACH > text.length) {
    throw new Error('the answer is no summary: it has too many parts for its length');
  }
}
