import type { Middleware } from '#lib/apiserver/http/api-context.ts';
import { gzip, lengthOf, type ResponseBody, sentBody } from '#lib/apiserver/http/response-body.ts';
import { takesGzip } from '#lib/apiserver/negotiation/accept-encoding.ts';

/** Puts the pieces of a response together, and compresses long ones for those who take that, off the event loop. */
export const finishBody: Middleware = async (context, next) => {
  await next();
  const { state } = context;
  const { gzipFromBytes = Number.POSITIVE_INFINITY } = state;
  const encoded = state.body ?? wholeBody(context.body);
  if (!encoded) return;
  const isCompressed = lengthOf(encoded) > gzipFromBytes && takesGzip(context.get('Accept-Encoding'));
  if (!isCompressed && !state.body) return; // it is a body already
  const { gzipped = () => gzip(encoded.pieces) } = encoded;
  const { body, length } = sentBody(isCompressed ? await gzipped() : encoded.pieces);
  context.body = body;
  context.length = length;
  if (!isCompressed) return;
  context.vary('Accept-Encoding');
  context.set('Content-Encoding', 'gzip');
};

function wholeBody(body: unknown): ResponseBody | undefined {
  return Buffer.isBuffer(body) ? { pieces: [body] } : undefined;
}
