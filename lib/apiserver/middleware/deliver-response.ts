import type { ApiContext, Middleware } from '#lib/apiserver/http/api-context.ts';
import {
  bufferedBytes,
  gzip,
  lengthOf,
  MIN_COUNTED_BYTES,
  type ResponseBody,
  sentBody,
} from '#lib/apiserver/http/response-body.ts';
import type { ServingTelemetry } from '#lib/apiserver/serving/serving-telemetry.ts';
import type { Clock } from '#lib/time/clock.ts';

/**
 * Maximum number of short responses that clients have not read, which takes them milliseconds. Each takes 10 kB, and a
 * client that reads none may request 100 on each of its connections. Long responses are bounded by their memory.
 */
const MAX_UNREAD = 2_000;

/**
 * Cuts off clients that do not read a response, even a refusal, within the timeout of a request: it would count as in
 * progress forever. When there are too many unread responses, the oldest is cut off at once. Streams of events have
 * their own bound.
 */
export function limitDelivery({
  clock,
  telemetry,
  maxMs,
}: {
  readonly clock: Clock;
  readonly telemetry: ServingTelemetry;
  readonly maxMs: number;
}): Middleware {
  /** Each cuts one off; the oldest comes first. */
  const unread = new Set<() => void>();
  const startTimeout = ({ state, res, response }: ApiContext) => {
    if (state.isEventStream) return;
    const cutOff = () => {
      telemetry.recordRefusal('not_read');
      res.destroy();
    };
    const timer = clock.startTimer(maxMs, cutOff);
    if ((response.length ?? 0) < MIN_COUNTED_BYTES) unread.add(cutOff);
    state.end.whenOver(() => {
      timer[Symbol.dispose]();
      unread.delete(cutOff);
    });
    if (unread.size <= MAX_UNREAD) return;
    const [oldest] = unread;
    if (oldest) unread.delete(oldest);
    oldest?.();
  };
  return async (context, next) => {
    try {
      await next();
    } finally {
      startTimeout(context);
    }
  };
}

/**
 * Concatenates the pieces of a response, and compresses long ones off the event loop for clients that accept that. A
 * long response waits for memory, and is sent in pieces, as fast as its client reads.
 */
export const finishBody: Middleware = async (context, next) => {
  await next();
  const { state } = context;
  const encoded = state.body ?? wholeBody(context.body);
  if (!encoded) return;
  const waiting = state.buffered?.reserve(bufferedBytes(encoded));
  if (waiting) await waiting;
  const { gzipFromBytes = Number.POSITIVE_INFINITY } = state;
  const isCompressed = lengthOf(encoded) > gzipFromBytes && acceptsGzip(context.get('Accept-Encoding'));
  if (isCompressed) await sendCompressed(context, encoded);
  else sendPieces(context, encoded.pieces);
};

async function sendCompressed(context: ApiContext, encoded: ResponseBody): Promise<void> {
  const { gzipped = () => gzip(encoded.pieces) } = encoded;
  sendPieces(context, await gzipped());
  context.vary('Accept-Encoding');
  context.set('Content-Encoding', 'gzip');
}

function sendPieces(context: ApiContext, pieces: ResponseBody['pieces']): void {
  const { body, length } = sentBody(pieces);
  if (body !== context.body) {
    context.body = body; // setting it sets a type, which some responses must not have
    context.length = length;
  }
  context.state.buffered?.deliver();
}

function wholeBody(body: unknown): ResponseBody | undefined {
  return Buffer.isBuffer(body) ? { pieces: [body] } : undefined;
}

const ZERO = /^0(?:\.0*)?$/;

/** Whether a client accepts gzip with a quality above 0; as in Kubernetes, `*` does not count. */
export function acceptsGzip(header: string): boolean {
  return header.split(',').some(isGzipAccepted);
}

function isGzipAccepted(clause: string): boolean {
  const [coding = '', ...parameters] = clause.split(';');
  if (coding.trim() !== 'gzip') return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.trim() !== 'q' || !ZERO.test(value.trim());
  });
}
