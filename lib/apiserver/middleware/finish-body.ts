import type { Middleware } from '#lib/apiserver/http/api-context.ts';
import { type AnswerPart, bodyOf, gzipParts, lengthOf } from '#lib/apiserver/http/response-part.ts';
import { takesGzip } from '#lib/apiserver/negotiation/accept-encoding.ts';

/** Makes one body of the parts of an answer, and compresses long ones for those who take that, off the event loop. */
export const finishBody: Middleware = async (context, next) => {
  await next();
  const { state } = context;
  const { gzipFromBytes = Number.POSITIVE_INFINITY } = state;
  const parts = state.parts ?? wholeBody(context.body);
  if (!parts) return;
  const isCompressed = lengthOf(parts) > gzipFromBytes && takesGzip(context.get('Accept-Encoding'));
  if (!isCompressed && !state.parts) return; // it is a body already
  const pieces = isCompressed ? await gzipParts(parts) : parts.flatMap((part) => part.pieces);
  const { body, length } = bodyOf(pieces);
  context.body = body;
  context.length = length;
  if (!isCompressed) return;
  context.vary('Accept-Encoding');
  context.set('Content-Encoding', 'gzip');
};

function wholeBody(body: unknown): readonly AnswerPart[] | undefined {
  return Buffer.isBuffer(body) ? [{ pieces: [body] }] : undefined;
}
