import { ApiError } from '../status.ts';
import type { ApiFault } from './api-fault.ts';

/** What a refusal says. */
export interface Refusal {
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
