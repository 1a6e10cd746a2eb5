import type { ApiContext, Endpoint } from '#lib/apiserver/chain/api-context.ts';
import { badRequest, methodNotAllowed } from '#lib/apiserver/failures.ts';
import { parseCount } from '#lib/apiserver/query-values.ts';
import { writeBody } from '#lib/apiserver/write-document.ts';
import { isTurnOver, nextTurn } from '#lib/time/turn.ts';
import { type DebugAnswer, encodeDebugAnswer } from './debug-answer.ts';
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

/**
 * `/debug/nodes` and `/debug/pods`: what is known of nodes and pods, and why one is not served; all of it worked out
 * when it is asked for. What is not served comes first. Parameters: `name`, `namespace` (of pods) and `limit`.
 */
export function debugEndpoints(options: DebugEndpointsOptions): ReadonlyMap<string, Endpoint> {
  const { source, trends, lookup } = options;
  return new Map<string, Endpoint>([
    [
      '/debug/nodes',
      async (context) => {
        requireReading(context);
        const name = parameter(context, 'name');
        const names = name === undefined ? [...source.nodes.values()].map((node) => node.name) : [name];
        const nodes: NodeDescription[] = [];
        for (const one of names) {
          const node = describeNode(source, one, trends.of(one));
          nodes.push(node);
          if (isTurnOver(OBJECTS_A_NODE + (node.held?.containers ?? 0))) await nextTurn();
        }
        const { total, served } = countServed(nodes);
        await answer(context, { total, served, items: nodes.sort(compareNodes).slice(0, limitOf(context)) });
      },
    ],
    [
      '/debug/pods',
      async (context) => {
        requireReading(context);
        const name = parameter(context, 'name');
        const namespace = parameter(context, 'namespace');
        if (name === undefined) {
          return answer(context, await describePods(source, { namespace, limit: limitOf(context) }));
        }
        if (namespace === undefined) throw badRequest('a pod is asked for by name and namespace');
        const pod = await describePod(source, { namespace, name }, lookup);
        await answer(context, { ...countServed([pod]), items: [pod] });
      },
    ],
  ]);
}

/** A node with its trend takes as long as so many objects that are encoded. */
const OBJECTS_A_NODE = 10;

async function answer(
  context: ApiContext,
  body: DebugAnswer<NodeDescription | PodDescription>,
): Promise<void> {
  writeBody(context, await encodeDebugAnswer(body), 'json');
}

function countServed(items: readonly { readonly served: boolean }[]): Omit<DebugAnswer<never>, 'items'> {
  return { total: items.length, served: items.filter(({ served }) => served).length };
}

function limitOf(context: ApiContext): number {
  const limit = parseCount(context.state.query.get('limit'));
  return limit > 0 ? limit : Number.POSITIVE_INFINITY;
}

function requireReading({ method }: ApiContext): void {
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed();
}

function parameter(context: ApiContext, name: string): string | undefined {
  return context.state.query.get(name) || undefined;
}

function compareNodes(a: NodeDescription, b: NodeDescription): number {
  const isFailing = ({ served, scrape }: NodeDescription) => (served && !scrape?.failure ? 1 : 0);
  return isFailing(a) - isFailing(b) || (a.name < b.name ? -1 : 1);
}
