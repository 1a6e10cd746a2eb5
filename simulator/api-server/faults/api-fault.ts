import type { Clock } from '#lib/time/clock.ts';
import type { ApiRequest } from '../api-request.ts';

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
export interface FaultContext {
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
