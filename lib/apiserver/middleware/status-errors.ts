import { randomUUID } from 'node:crypto';
import type { ApiContext, Middleware } from '#lib/apiserver/http/api-context.ts';
import { RequestEnd } from '#lib/apiserver/http/request-lifetime.ts';
import { internalError, StatusError } from '#lib/apiserver/http/status-error.ts';
import { writeStatus } from '#lib/apiserver/http/write-response.ts';
import type { Logger } from '#lib/telemetry/logger.ts';

/**
 * Gives every response the headers that all have, and turns whatever the middleware behind it throws into a
 * Status. What is no StatusError is an error of ours: it is logged, and its client is told no more than that.
 */
export function respond(logger: Logger, handle: Middleware): Middleware {
  const fail = (context: ApiContext, error: unknown) => {
    if (error instanceof StatusError) {
      writeStatus(context, error);
      return;
    }
    const { method, path } = context;
    logger.error('Cannot serve a request', error, { method, path });
    writeStatus(context, internalError(error));
  };
  return (context): Promise<void> | void => {
    context.state.end = new RequestEnd(context.res);
    context.state.query = NO_QUERY; // until it is read
    context.res.setHeader('Audit-Id', auditIdOf(context) || randomUUID()); // koa's own way takes twice the time
    context.res.setHeader('Cache-Control', 'no-cache, private');
    try {
      return handle(context)?.catch((error: unknown) => fail(context, error));
    } catch (error) {
      fail(context, error);
    }
  };
}

const NO_QUERY = new URLSearchParams();

/** The API server's are UUIDs; longer ones than this are not sent back. */
const MAX_AUDIT_ID_LENGTH = 256;

function auditIdOf(context: ApiContext): string {
  const sent = context.get('Audit-Id');
  return sent.length > MAX_AUDIT_ID_LENGTH ? '' : sent;
}
