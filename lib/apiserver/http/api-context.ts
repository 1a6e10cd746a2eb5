import type { Next, ParameterizedContext } from 'koa';
import type { TimeSlices } from '#lib/concurrency/event-loop.ts';
import type { RequestInfo } from './request-info.ts';
import type { RequestDeadline, RequestEnd } from './request-lifetime.ts';
import type { ResponseBody } from './response-body.ts';

/** What middleware knows of a request; each adds its own part before it calls the next. */
export interface RequestState {
  end: RequestEnd;
  query: URLSearchParams;
  info: RequestInfo;
  user: User;
  deadline: RequestDeadline;
  /** For long work; one for the whole server. */
  slices: TimeSlices;
  /** What is held of the response; without it, until it is known who asks, responses are short. */
  held?: HeldResponse;
  /** How long a response must be to be compressed; none is where this is not set. */
  gzipFromBytes?: number;
  /** Whether the response is a stream of events, which ends when its watch does. */
  isEventStream?: boolean;
  /** What the body is to be made of. */
  body?: ResponseBody;
}

/** A request on its way through the middleware. */
export type ApiContext = ParameterizedContext<RequestState>;

/**
 * Middleware of koa. One that only checks returns `next()` itself, without a promise of its own; an error that it throws becomes
 * the response.
 */
export type Middleware = (context: ApiContext, next: Next) => Promise<void> | void;

/** Serves what is at a path: writes the response into the context. */
export type Endpoint = (context: ApiContext) => Promise<void> | void;

/** Who a request comes from. */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** The user that callers are who show no credentials. */
export const ANONYMOUS: User = {
  name: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: {},
};

/** One response's part of what is held. */
export interface HeldResponse extends Disposable {
  /**
   * Waits until so many bytes may be held. Who holds some already does not wait: it corrects how many they are.
   *
   * @throws {StatusError} 429 where that takes too long, 504 where the client has gone
   */
  hold(bytes: number): Promise<void> | void;
  /** The response is complete: from now on its client is what it waits for. */
  deliver(): void;
}
