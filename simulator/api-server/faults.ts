import type { ServerResponse } from 'node:http';
import type { Clock } from '#lib/time/clock.ts';
import type { ApiRequest } from './api-request.ts';
import { ApiError, conflict } from './status.ts';

/** One way in which the API server misbehaves in requests that are authorized. */
export interface ApiFault {
  /**
   * Responds itself, or changes what the rest of the server writes.
   *
   * @throws ApiError that is sent as the response
   */
  serve(request: ApiRequest, context: FaultContext): Promise<void>;
}

interface FaultContext {
  readonly clock: Clock;
  /** Serves the request without this fault. */
  next(): Promise<void>;
}

/** The requests that a fault affects; an absent field matches all. */
export interface RequestMatch {
  readonly verb?: string;
  readonly resource?: string;
}

/** Restricts a fault to some requests. */
export function forRequests(match: RequestMatch, fault: ApiFault): ApiFault {
  const { verb, resource } = match;
  return {
    serve: (request, context) => {
      const { target } = request;
      const isMatch =
        (verb === undefined || verb === request.verb) &&
        (resource === undefined || (target.isResource && target.resource === resource));
      return isMatch ? fault.serve(request, context) : context.next();
    },
  };
}

const WRITES = ['update', 'patch'];

/** Refuses the first updates and patches with 409, as if another client had written the object in between. */
export function conflictWrites(count: number): ApiFault {
  let remaining = count;
  return {
    serve: async ({ verb, target }, { next }) => {
      if (!target.isResource || !WRITES.includes(verb) || remaining === 0) return next();
      remaining--;
      throw conflict(
        target,
        target.name ?? '',
        'the object has been modified; please apply your changes to the latest version and try again',
      );
    },
  };
}

/** Delays the response. */
export function delayResponses(durationMs: number): ApiFault {
  return {
    serve: async ({ signal }, { clock, next }) => {
      await clock.sleep(durationMs, { signal });
      await next();
    },
  };
}

/**
 * Sends the events of watches late and in their order, as an API server does whose watch cache lags behind. Events that
 * are not sent when the watch ends are lost with it.
 */
export function delayWatches(durationMs: number): ApiFault {
  return interceptWatches(({ response, clock, send }) => {
    const pending = new Set<Disposable>();
    response.once('close', () => {
      for (const timer of pending) timer[Symbol.dispose]();
    });
    return (line) => {
      const timer = clock.startTimer(durationMs, () => {
        pending.delete(timer);
        if (!response.writableEnded) send(line);
      });
      pending.add(timer);
    };
  });
}

/** Ends each watch after a time, as load balancers do. */
export function endWatches(afterMs: number): ApiFault {
  return {
    serve: async ({ verb, response, signal }, { clock, next }) => {
      if (verb === 'watch') {
        clock.sleep(afterMs, { signal }).then(
          () => response.end(),
          () => {}, // it ended before
        );
      }
      await next();
    },
  };
}

interface Refusal {
  readonly code: number;
  /** A reason of `metav1.Status`, such as `TooManyRequests`. */
  readonly reason: string;
  /** The header Retry-After. */
  readonly retryAfterSeconds?: number;
}

/** Refuses with a Status, as an API server does that is overloaded (429) or has lost etcd (500). */
export function refuseRequests({ code, reason, retryAfterSeconds }: Refusal): ApiFault {
  return {
    serve: async ({ response }) => {
      if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(retryAfterSeconds));
      throw new ApiError(code, reason, `simulated ${reason}`, {});
    },
  };
}

/** Drops all events of open watches without an error, as a network does that loses packets. */
export const dropEvents: ApiFault = interceptWatches(() => () => {});

/** Drops bookmarks, which no server promises. */
export const dropBookmarks: ApiFault = interceptWatches(({ send }) => (line) => {
  if (!line.startsWith('{"type":"BOOKMARK"')) send(line);
});

/** Sends each event twice. */
export const repeatEvents: ApiFault = interceptWatches(({ send }) => (line) => {
  send(line);
  send(line);
});

/** Sends events in pairs, the later one first. */
export const swapEvents: ApiFault = interceptWatches(({ send }) => {
  let earlier: string | undefined;
  return (line) => {
    if (earlier === undefined) {
      earlier = line;
      return;
    }
    send(line);
    send(earlier);
    earlier = undefined;
  };
});

/** Adds events of an unknown type, and objects of an unknown kind. */
export const addUnknownEvents: ApiFault = interceptWatches(({ send }) => (line) => {
  send(`${JSON.stringify({ type: 'TRANSMUTED', object: { kind: 'Pod', metadata: { name: 'x' } } })}\n`);
  send(`${JSON.stringify({ type: 'ADDED', object: { kind: 'Sprocket', apiVersion: 'v9' } })}\n`);
  send(line);
});

interface WatchResponse {
  readonly response: ServerResponse;
  readonly clock: Clock;
  /** Writes a line, with its line feed, to the client. */
  send(line: string): void;
}

/** Passes each line of a watch to a function of that watch, which sends what the client receives. */
function interceptWatches(interceptorFor: (watch: WatchResponse) => (line: string) => void): ApiFault {
  return {
    serve: async ({ verb, response }, { clock, next }) => {
      if (verb === 'watch') {
        const write = response.write.bind(response) as (chunk: string) => boolean;
        let hasRoom = true;
        const send = (line: string) => {
          hasRoom = write(line) && hasRoom;
        };
        const intercept = interceptorFor({ response, clock, send });
        response.write = ((chunk: string) => {
          hasRoom = true;
          intercept(chunk);
          return hasRoom;
        }) as typeof response.write;
      }
      await next();
    },
  };
}
