import type { Next, ParameterizedContext } from 'koa';
import type { TimeSlices } from '#lib/concurrency/event-loop.ts';
import type { RequestInfo } from './request-info.ts';
import type { RequestDeadline, RequestEnd } from './request-lifetime.ts';
import type { ResponseBody } from './response-body.ts';

/** State of a request; each middleware adds its part before it calls the next. */
export interface RequestState {
  end: RequestEnd;
  query: URLSearchParams;
  info: RequestInfo;
  user: User;
  deadline: RequestDeadline;
  /** For long work; shared by the whole server. */
  slices: TimeSlices;
  /** Memory of the response. Unset until the caller is authenticated; responses are short until then. */
  buffered?: BufferedResponse;
  /** Minimum length of a response to compress; unset for no compression. */
  gzipFromBytes?: number;
  /** Whether the response is a stream of events, which ends with its watch. */
  isEventStream?: boolean;
  /** Input of the response's body. */
  body?: ResponseBody;
}

export type ApiContext = ParameterizedContext<RequestState>;

/** Middleware of koa. One that only checks returns `next()` directly; an error that it throws becomes the response. */
export type Middleware = (context: ApiContext, next: Next) => Promise<void> | void;

/** Serves one path: writes the response into the context. */
export type Endpoint = (context: ApiContext) => Promise<void> | void;

/** An authenticated user. */
export interface User {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** The user of requests without credentials. */
export const ANONYMOUS: User = {
  name: 'system:anonymous',
  uid: '',
  groups: ['system:unauthenticated'],
  extra: {},
};

/** Memory that one response takes until its client has read it. */
export interface BufferedResponse extends Disposable {
  /**
   * Waits until so many bytes are available. A response that has some already does not wait: this corrects their
   * number.
   *
   * @throws {StatusError} 429 where that takes too long, 504 where the client has left
   */
  reserve(bytes: number): Promise<void> | void;
  /** Marks the response as complete: from now on it waits for its client to read. */
  deliver(): void;
}
