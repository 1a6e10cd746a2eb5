import type { ApiContext, Middleware } from '#lib/apiserver/http/api-context.ts';
import { gzip, heldBytes, lengthOf, type ResponseBody, sentBody } from '#lib/apiserver/http/response-body.ts';

/**
 * Puts the pieces of a response together, and compresses long ones for those who take that, off the event loop. A long
 * response waits until it may be held, and goes to its client in pieces, as fast as they are taken.
 */
export const finishBody: Middleware = (context) => {
  const { state } = context;
  const encoded = state.body ?? wholeBody(context.body);
  if (!encoded) return;
  const waiting = state.held?.hold(heldBytes(encoded));
  return waiting ? waiting.then(() => send(context, encoded)) : send(context, encoded);
};

function send(context: ApiContext, encoded: ResponseBody): Promise<void> | void {
  const { gzipFromBytes = Number.POSITIVE_INFINITY } = context.state;
  const isCompressed = lengthOf(encoded) > gzipFromBytes && takesGzip(context.get('Accept-Encoding'));
  if (isCompressed) return sendCompressed(context, encoded);
  sendPieces(context, encoded.pieces);
}

async function sendCompressed(context: ApiContext, encoded: ResponseBody): Promise<void> {
  const { gzipped = () => gzip(encoded.pieces) } = encoded;
  sendPieces(context, await gzipped());
  context.vary('Accept-Encoding');
  context.set('Content-Encoding', 'gzip');
}

function sendPieces(context: ApiContext, pieces: ResponseBody['pieces']): void {
  const { body, length } = sentBody(pieces);
  if (body !== context.body) {
    context.body = body; // to set it gives it a type, which some responses are to have none of
    context.length = length;
  }
  context.state.held?.deliver();
}

function wholeBody(body: unknown): ResponseBody | undefined {
  return Buffer.isBuffer(body) ? { pieces: [body] } : undefined;
}

const ZERO = /^0(?:\.0*)?$/;

/** Whether a client says gzip, and not that it takes none of it; as in Kubernetes, a star is not enough. */
export function takesGzip(header: string): boolean {
  return header.split(',').some(saysGzip);
}

function saysGzip(clause: string): boolean {
  const [coding = '', ...parameters] = clause.split(';');
  if (coding.trim() !== 'gzip') return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.trim() !== 'q' || !ZERO.test(value.trim());
  });
}
