import { randomUUID } from 'node:crypto';
import type { ApiContext, Middleware } from '#lib/apiserver/http/api-context.ts';
import { RequestEnd } from '#lib/apiserver/http/request-lifetime.ts';
import { internalError, StatusError } from '#lib/apiserver/http/status-error.ts';
import { writeStatus } from '#lib/apiserver/http/write-response.ts';
import type { Logger } from '#lib/telemetry/logger.ts';

/**
 * Sets the headers of every response, and makes a Status of errors from later middleware. An error that is not a
 * StatusError is internal: it is logged, and the response has no details.
 */
export function statusErrors(logger: Logger): Middleware {
  const fail = (context: ApiContext, error: unknown) => {
    if (error instanceof StatusError) return writeStatus(context, error);
    const { method, path } = context;
    logger.error('Cannot serve request', error, { method, path });
    return writeStatus(context, internalError(error));
  };
  return async (context, next) => {
    context.state.end = new RequestEnd(context.res);
    context.state.query = NO_QUERY; // until it is read
    context.res.setHeader('Audit-Id', auditIdOf(context) || randomUUID()); // koa's own way takes twice the time
    context.res.setHeader('Cache-Control', 'no-cache, private');
    try {
      await next();
    } catch (error) {
      await fail(context, error);
    }
  };
}

const NO_QUERY = new URLSearchParams();

/** The API server's are UUIDs; a longer one is not returned. */
const MAX_AUDIT_ID_LENGTH = 256;

function auditIdOf(context: ApiContext): string {
  const sent = context.get('Audit-Id');
  return sent.length > MAX_AUDIT_ID_LENGTH ? '' : sent;
}
