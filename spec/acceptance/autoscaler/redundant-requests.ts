import type { AuditEvent } from '../control-plane/audit-log.ts';

/**
 * Finds lists and watches that a client with one informer per resource does not need.
 *
 * An informer lists again only after a failed list or an ended watch, and has one watch at a time. The API server may
 * reject a list or end a watch at any time, so repeated requests are allowed, but no concurrent ones.
 *
 * @param events of one client
 * @returns one line for each redundant request
 */
export function redundantRequests(events: readonly AuditEvent[]): readonly string[] {
  return [...byResource(requestsOf(events))].flatMap(([resource, requests]) =>
    requests.flatMap((request, index) => {
      const reason = redundancy(request, requests.slice(0, index));
      return reason === undefined
        ? []
        : [`${request.verb} of ${resource} at ${new Date(request.receivedAtMs).toISOString()}: ${reason}`];
    }),
  );
}

/** @returns the resource of each watch that was open at `atMs` */
export function openWatches(events: readonly AuditEvent[], atMs: number): readonly string[] {
  return requestsOf(events)
    .filter(({ verb, receivedAtMs }) => verb === 'watch' && receivedAtMs <= atMs)
    .filter(({ endedAtMs }) => endedAtMs === undefined || endedAtMs > atMs)
    .map(({ resource }) => resource);
}

interface ListOrWatch {
  readonly verb: 'list' | 'watch';
  readonly resource: string;
  readonly receivedAtMs: number;
  /** `undefined` while the request is open. */
  readonly endedAtMs: number | undefined;
  readonly hasFailed: boolean;
}

/** Lists and watches in the order in which the API server received them. */
function requestsOf(events: readonly AuditEvent[]): readonly ListOrWatch[] {
  const requests = new Map<string, ListOrWatch>();
  for (const { id, verb, resource, receivedAtMs, reachedAtMs, status, isComplete } of events) {
    if (verb !== 'list' && verb !== 'watch') continue;
    if (requests.get(id)?.endedAtMs !== undefined) continue;
    const endedAtMs = isComplete ? reachedAtMs : undefined;
    requests.set(id, { verb, resource, receivedAtMs, endedAtMs, hasFailed: status >= 400 });
  }
  return [...requests.values()].toSorted((one, other) => one.receivedAtMs - other.receivedAtMs);
}

function byResource(requests: readonly ListOrWatch[]): ReadonlyMap<string, readonly ListOrWatch[]> {
  return Map.groupBy(requests, ({ resource }) => resource);
}

function redundancy(
  { verb, receivedAtMs }: ListOrWatch,
  earlier: readonly ListOrWatch[],
): string | undefined {
  const open = earlier.filter(({ endedAtMs }) => endedAtMs === undefined || endedAtMs > receivedAtMs);
  if (open.some((request) => request.verb === 'watch')) return 'a watch is open';
  if (verb === 'watch') return undefined; // a list's response may be read before its end is logged
  if (open.length > 0) return 'a list has not ended';
  const last = earlier.at(-1);
  return last?.verb === 'list' && !last.hasFailed ? 'it was listed already' : undefined;
}
