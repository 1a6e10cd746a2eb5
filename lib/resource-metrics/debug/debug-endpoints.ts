import type { ApiContext, Endpoint } from '#lib/apiserver/chain/api-context.ts';
import { badRequest, methodNotAllowed } from '#lib/apiserver/failures.ts';
import { parseCount } from '#lib/apiserver/query-values.ts';
import { writeBody } from '#lib/apiserver/write-document.ts';
import type { DebugSource } from './debug-source.ts';
import { describeNode, type NodeDescription } from './describe-node.ts';
import { describePod, describePods, type PodDescription } from './describe-pods.ts';
import type { NodeTrends } from './node-trends.ts';
import type { PodLookup } from './pod-lookup.ts';

/** What the endpoints answer from. */
export interface DebugEndpointsOptions {
  readonly source: DebugSource;
  readonly trends: Pick<NodeTrends, 'of'>;
  readonly lookup: Pick<PodLookup, 'find'>;
}

/** What both paths answer. */
export interface DebugAnswer<Item> {
  /** How many there are that were asked for, and how many of them are served, whatever the limit. */
  readonly total: number;
  readonly served: number;
  readonly items: readonly Item[];
}

/**
 * `/debug/nodes` and `/debug/pods`: what is known of nodes and pods, and why one is not served; all of it worked out
 * when it is asked for. What is not served comes first. Parameters: `name`, `namespace` (of pods) and `limit`.
 */
export function debugEndpoints(options: DebugEndpointsOptions): ReadonlyMap<string, Endpoint> {
  const { source, trends, lookup } = options;
  return new Map<string, Endpoint>([
    [
      '/debug/nodes',
      (context) => {
        const name = parameter(context, 'name');
        const names = name === undefined ? [...source.nodes.values()].map((node) => node.name) : [name];
        const nodes = names.map((one) => describeNode(source, one, trends.of(one)));
        answer(context, nodes.sort(compareNodes));
      },
    ],
    [
      '/debug/pods',
      async (context) => {
        const name = parameter(context, 'name');
        const namespace = parameter(context, 'namespace');
        if (name === undefined) return answer(context, describePods(source, namespace));
        if (namespace === undefined) throw badRequest('a pod is asked for by name and namespace');
        answer(context, [await describePod(source, { namespace, name }, lookup)]);
      },
    ],
  ]);
}

function answer(context: ApiContext, items: readonly (NodeDescription | PodDescription)[]): void {
  if (context.method !== 'GET' && context.method !== 'HEAD') throw methodNotAllowed();
  const limit = parseCount(context.state.query.get('limit'));
  const body: DebugAnswer<unknown> = {
    total: items.length,
    served: items.filter(({ served }) => served).length,
    items: limit > 0 ? items.slice(0, limit) : items,
  };
  writeBody(context, Buffer.from(`${JSON.stringify(body, undefined, 2)}\n`), 'json');
}

function parameter(context: ApiContext, name: string): string | undefined {
  return context.state.query.get(name) || undefined;
}

function compareNodes(a: NodeDescription, b: NodeDescription): number {
  const isFailing = ({ served, scrape }: NodeDescription) => (served && !scrape?.failure ? 1 : 0);
  return isFailing(a) - isFailing(b) || (a.name < b.name ? -1 : 1);
}
