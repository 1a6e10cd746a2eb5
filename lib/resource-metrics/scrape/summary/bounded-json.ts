import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';

/** How deep lists and objects may lie in one another; a summary has 8 levels in all. */
export const MAX_JSON_DEPTH = 32;

/** Lists, objects and commas: as many as the containers of the largest summary have. */
export const MAX_JSON_VALUES = 1_000_000;

/** What is no longer than this costs little, whatever is in it, and so are the responses of nearly all kubelets. */
export const UNBOUNDED_BYTES = 256 * 1024;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Parses the JSON text of a kubelet.
 *
 * @param body UTF-8 text
 * @throws {ExcessiveResponse} when a long one has so many or so deep parts that parsing it would take many times its memory
 * @throws when it is not valid JSON
 */
export function parseBoundedJson(body: Buffer): unknown {
  if (body.length > UNBOUNDED_BYTES) refuseExcessive(body);
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new Error('the response is not valid JSON'); // V8's message quotes what a stranger wrote
  }
}

/** Bytes are looked at in blocks of this length, copied: V8 is ten times as slow in a buffer that can be resized, as long ones can. */
const BLOCK_BYTES = 64 * 1024;

/** Looks at each byte once; what is in strings does not count. */
function refuseExcessive(body: Buffer): void {
  const block = new Uint8Array(BLOCK_BYTES);
  let [depth, values, isInString, isEscaped] = [0, 0, false, false];
  for (let start = 0; start < body.length; start += BLOCK_BYTES) {
    const length = body.copy(block, 0, start);
    for (let index = isEscaped ? 1 : 0; index < length; index++) {
      if (isInString) {
        index = endOfString(block, { start: index, length });
        isInString = index >= length;
        isEscaped = index > length;
        continue;
      }
      const code = block[index];
      if (code === QUOTE) isInString = true;
      else if (code === COMMA) values++;
      else if (code === OPENING_BRACE || code === OPENING_BRACKET) {
        values++;
        if (++depth > MAX_JSON_DEPTH) throw tooDeep();
      } else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) depth--;
      if (values > MAX_JSON_VALUES) throw tooMany();
    }
  }
}

/** The place of the quote that ends the string; the length where it goes on behind it, or one more where the next byte is escaped. */
function endOfString(
  block: Uint8Array,
  { start, length }: { readonly start: number; readonly length: number },
): number {
  let index = start;
  while (index < length && block[index] !== QUOTE) index += block[index] === BACKSLASH ? 2 : 1;
  return index;
}

function tooDeep(): ExcessiveResponse {
  const message = `the response is no summary: its parts lie more than ${MAX_JSON_DEPTH} levels deep in one another`;
  return new ExcessiveResponse('depth', message);
}

function tooMany(): ExcessiveResponse {
  return new ExcessiveResponse(
    'parts',
    `the response has more than ${MAX_JSON_VALUES} lists, objects and members`,
  );
}
