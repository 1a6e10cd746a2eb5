import type { ServerResponse } from 'node:http';
import type { Clock } from '#lib/time/clock.ts';
import type { ApiRequest } from './api-request.ts';
import { ApiError, conflict, expired } from './status.ts';

/** One way in which the API server misbehaves towards requests that it has let in. */
export interface ApiFault {
  /**
   * Responds in a manner of its own, or changes what the rest writes.
   *
   * @throws ApiError to have that sent
   */
  serve(request: ApiRequest, context: FaultContext): Promise<void>;
}

/** What a fault needs to take its time. */
interface FaultContext {
  readonly clock: Clock;
  /** Goes on as if this fault were not there. */
  next(): Promise<void>;
}

/** Which requests a fault is about; what is absent does not matter. */
export interface ConcernedRequests {
  readonly verb?: string;
  readonly resource?: string;
}

/** Leaves alone what a fault is not about. */
export function concerning(concerned: ConcernedRequests, fault: ApiFault): ApiFault {
  const { verb, resource } = concerned;
  return {
    serve: (request, context) => {
      const { target } = request;
      const isMeant =
        (verb === undefined || verb === request.verb) &&
        (resource === undefined || (target.isResource && target.resource === resource));
      return isMeant ? fault.serve(request, context) : context.next();
    },
  };
}

const WRITES = ['update', 'patch'];

/** Refuses the first writes of existing objects as if somebody else had just written them. */
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

/** Watches of which each can be cut off at any moment, in the midst of a line or between two. */
export class CutWatches implements ApiFault {
  readonly #open = new Set<() => void>();

  /** How many watches there are now. */
  get count(): number {
    return this.#open.size;
  }

  serve: ApiFault['serve'] = async ({ verb, response }, { next }) => {
    if (verb !== 'watch') return next();
    const cut = () => response.destroy();
    this.#open.add(cut);
    response.once('close', () => this.#open.delete(cut));
    await next();
  };

  /** Breaks all of them without a word; the connections of others stay. */
  cut(): void {
    for (const cut of [...this.#open]) cut();
  }
}

/** The response as it should be, late. */
export function delayResponses(durationMs: number): ApiFault {
  return {
    serve: async ({ signal }, { clock, next }) => {
      await clock.sleep(durationMs, { signal });
      await next();
    },
  };
}

/** Tells watches everything late and in its order, as an API server does whose watch cache lags behind. */
export function delayWatches(durationMs: number): ApiFault {
  return {
    serve: async ({ verb, response }, { clock, next }) => {
      if (verb === 'watch') delayLines(response, { durationMs, clock });
      await next();
    },
  };
}

interface Delay {
  readonly durationMs: number;
  readonly clock: Clock;
}

/** What is still to be told when the watch ends is lost with it: the watcher goes on from what it has seen. */
function delayLines(response: ServerResponse, { durationMs, clock }: Delay): void {
  const write = response.write.bind(response) as (chunk: string) => boolean;
  const pending = new Set<Disposable>();
  response.once('close', () => {
    for (const timer of pending) timer[Symbol.dispose]();
  });
  response.write = ((chunk: string) => {
    const timer = clock.startTimer(durationMs, () => {
      pending.delete(timer);
      if (!response.writableEnded) write(chunk);
    });
    pending.add(timer);
    return true;
  }) as typeof response.write;
}

/** Ends every watch after a while, as load balancers do. */
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

/**
 * Calls every version too old that somebody would go on from: watches get 410 as their first event, as from a watch
 * cache, and further pages of lists as their response.
 */
export const expireVersions: ApiFault = {
  serve: async ({ verb, query, response }, { next }) => {
    const version = Number(query.get('resourceVersion') ?? '');
    if (verb === 'list' && query.get('continue')) throw expired('The provided continue parameter is too old');
    if (verb !== 'watch' || version === 0) return next();
    const status = expired(`too old resource version: ${version}`).toStatus();
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
  },
};

/** What a refusal says. */
interface Refusal {
  readonly code: number;
  /** Kubernetes' own word, as `TooManyRequests`. */
  readonly reason: string;
  /** The header Retry-After. */
  readonly retryAfterSeconds?: number;
}

/** Refuses with a Status, as an API server does that has too much to do (429) or whose etcd is gone (500). */
export function refuseRequests({ code, reason, retryAfterSeconds }: Refusal): ApiFault {
  return {
    serve: async ({ response }) => {
      if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(retryAfterSeconds));
      throw new ApiError(code, reason, `simulated ${reason}`, {});
    },
  };
}

/** Makes of one line of a watch those that are sent instead; each ends with its line feed. */
type LineRewriter = (line: string) => readonly string[];

/** Has what every watch says rewritten, by a rewriter of its own. */
function rewriteWatches(rewriterFor: () => LineRewriter): ApiFault {
  return {
    serve: async ({ verb, response }, { next }) => {
      if (verb === 'watch') rewriteLines(response, rewriterFor());
      await next();
    },
  };
}

/** The packets of watches that are open vanish from now on, and nobody is told. */
export const muteWatches: ApiFault = rewriteWatches(() => () => []);

/** Leaves out bookmarks, which no server promises. */
export const withholdBookmarks: ApiFault = rewriteWatches(
  () => (line) => (line.startsWith('{"type":"BOOKMARK"') ? [] : [line]),
);

/** Says everything twice. */
export const repeatEvents: ApiFault = rewriteWatches(() => (line) => [line, line]);

/** Sends events two at a time, the later one first. */
export const swapEvents: ApiFault = rewriteWatches(() => {
  let held: string | undefined;
  return (line) => {
    const earlier = held;
    held = earlier === undefined ? line : undefined;
    return earlier === undefined ? [] : [line, earlier];
  };
});

/** Adds events of a type that is yet to be invented, and objects of which nobody has heard. */
export const addUnknownEvents: ApiFault = rewriteWatches(() => (line) => [
  `${JSON.stringify({ type: 'TRANSMUTED', object: { kind: 'Pod', metadata: { name: 'x' } } })}\n`,
  `${JSON.stringify({ type: 'ADDED', object: { kind: 'Sprocket', apiVersion: 'v9' } })}\n`,
  line,
]);

function rewriteLines(response: ServerResponse, rewrite: LineRewriter): void {
  const write = response.write.bind(response) as (chunk: string) => boolean;
  response.write = ((chunk: string) => {
    let isFlowing = true;
    for (const line of rewrite(chunk)) isFlowing = write(line) && isFlowing;
    return isFlowing;
  }) as typeof response.write;
}
