import { methodNotAllowed } from '#lib/apiserver/errors/failures.ts';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import { refuseUnknownParameters } from '#lib/apiserver/http/known-parameters.ts';
import { writeBody } from '#lib/apiserver/http/write-response.ts';
import { printableLines } from '#lib/telemetry/printable.ts';

/** Who acts, and what runs. */
export interface ControllersState {
  readonly identity: string;
  readonly isLeader: boolean;
  /** Who has the lease, as far as is known. */
  readonly leader: string | undefined;
  /** Since when, as RFC 3339 says it. */
  readonly leaderSince: string | undefined;
  /** When this replica was started, as RFC 3339 says it. */
  readonly startedAt: string;
  readonly controllers: readonly string[];
}

/** `/debug/controllers`: which controllers run here, and whether this replica acts or which other does. */
export function debugControllers(state: () => ControllersState): Endpoint {
  return (context) => {
    if (context.method !== 'GET' && context.method !== 'HEAD') throw methodNotAllowed();
    refuseUnknownParameters(context.state.query, []);
    writeBody(context, Buffer.from(`${printableLines(JSON.stringify(state(), undefined, 2))}\n`), 'json');
  };
}
