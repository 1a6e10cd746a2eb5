import type { ApiContext, Middleware } from '#lib/apiserver/http/api-context.ts';
import {
  COUNTED_FROM_BYTES,
  gzip,
  heldBytes,
  lengthOf,
  type ResponseBody,
  sentBody,
} from '#lib/apiserver/http/response-body.ts';
import type { ServingTelemetry } from '#lib/apiserver/serving/serving-telemetry.ts';
import type { Clock } from '#lib/time/clock.ts';

/**
 * So many short responses may wait for their clients to take them, which takes milliseconds. Each holds 10 kB, and a client
 * that takes none may ask for 100 on each of its connections. Long ones are counted by what they hold.
 */
const MAX_UNREAD = 2_000;

/**
 * Cuts off who does not take a response within the time that a request may last, be it a refusal: it would count as under
 * way for good. While too many wait to be taken, the oldest is cut off at once. Streams of events look after that themselves.
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
    if ((response.length ?? 0) < COUNTED_FROM_BYTES) unread.add(cutOff);
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
 * Puts the pieces of a response together, and compresses long ones for those who take that, off the event loop. A long
 * response waits until it may be held, and goes to its client in pieces, as fast as they are taken.
 */
export const finishBody: Middleware = async (context, next) => {
  await next();
  const { state } = context;
  const encoded = state.body ?? wholeBody(context.body);
  if (!encoded) return;
  const waiting = state.held?.hold(heldBytes(encoded));
  if (waiting) await waiting;
  const { gzipFromBytes = Number.POSITIVE_INFINITY } = state;
  const isCompressed = lengthOf(encoded) > gzipFromBytes && takesGzip(context.get('Accept-Encoding'));
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
