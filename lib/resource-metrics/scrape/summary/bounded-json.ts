import { ExcessiveResponse } from '#lib/resource-metrics/scrape/excessive-response.ts';

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

/** Looks at each byte once; what is in strings does not count. */
function refuseExcessive(body: Uint8Array): void {
  let [depth, values] = [0, 0];
  for (let index = 0; index < body.length; index++) {
    const code = body[index];
    if (code === QUOTE) index = endOfString(body, index + 1);
    else if (code === COMMA) values++;
    else if (code === OPENING_BRACE || code === OPENING_BRACKET) {
      values++;
      if (++depth > MAX_JSON_DEPTH) throw tooDeep();
    } else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) depth--;
    if (values > MAX_JSON_VALUES) throw tooMany();
  }
}

/** The place of the quote that ends the string, or the end of a text that breaks off. */
function endOfString(body: Uint8Array, start: number): number {
  let index = start;
  while (index < body.length && body[index] !== QUOTE) index += body[index] === BACKSLASH ? 2 : 1;
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
