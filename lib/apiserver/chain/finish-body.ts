import { type AnswerPart, bodyOf, gzipParts } from '#lib/apiserver/answer-part.ts';
import type { Step } from './api-context.ts';

/** Compresses long answers for those who take that, off the event loop. */
export const compress: Step = async (context, next) => {
  await next();
  const { gzipFromBytes = Number.POSITIVE_INFINITY } = context.state;
  const { length = 0 } = context;
  if (length <= gzipFromBytes || !takesGzip(context.get('Accept-Encoding'))) return;
  const parts = context.state.parts ?? wholeBody(context.body);
  if (!parts) return;
  const { body, length: compressedLength } = bodyOf(await gzipParts(parts));
  context.body = body;
  context.length = compressedLength;
  context.vary('Accept-Encoding');
  context.set('Content-Encoding', 'gzip');
};

function wholeBody(body: unknown): readonly AnswerPart[] | undefined {
  return Buffer.isBuffer(body) ? [{ bytes: body }] : undefined;
}

/** Whether a client says gzip, and says nothing against it; as in Kubernetes, a star is not enough. */
function takesGzip(header: string): boolean {
  return header.split(',').some((clause) => /^\s*gzip\s*(;\s*q\s*=\s*(?!0(\.0*)?\s*$).*)?$/.test(clause));
}
