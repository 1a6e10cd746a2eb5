import { Readable, type Transform } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { Step } from './api-context.ts';

/** Compresses long answers for those who take that, off the event loop. */
export const compress: Step = async (context, next) => {
  await next();
  const fromBytes = context.state.gzipFromBytes ?? Number.POSITIVE_INFINITY;
  const { body, length } = context;
  if (length === undefined || length <= fromBytes || !takesGzip(context.get('Accept-Encoding'))) return;
  const source = Buffer.isBuffer(body) ? Readable.from([body], { objectMode: false }) : body;
  if (!(source instanceof Readable)) return;
  context.body = source.compose<Transform>(
    createGzip({ level: constants.Z_BEST_SPEED, chunkSize: CHUNK_BYTES }),
  );
  context.vary('Accept-Encoding');
  context.set('Content-Encoding', 'gzip');
};

/** Each is a turn of the thread pool: few large ones cost less than many small ones. */
const CHUNK_BYTES = 256 * 1024;

/** Whether a client says gzip, and says nothing against it; as in Kubernetes, a star is not enough. */
function takesGzip(header: string): boolean {
  return header.split(',').some((clause) => /^\s*gzip\s*(;\s*q\s*=\s*(?!0(\.0*)?\s*$).*)?$/.test(clause));
}
