import type { ApiContext, Endpoint } from '#lib/apiserver/http/api-context.ts';
import { parseCount, refuseUnknownParameters } from '#lib/apiserver/http/query-values.ts';
import { badRequest, methodNotAllowed } from '#lib/apiserver/http/status-error.ts';
import { writeBody } from '#lib/apiserver/http/write-response.ts';
import { type DebugResponse, encodeDebugResponse } from './debug-response.ts';
import { type DebugSource, describeNode, type NodeDescription, type NodeTrends } from './describe-node.ts';
import { describePod, describePods, type PodDescription, type PodSelection } from './describe-pods.ts';
import type { PodLookup } from './pod-lookup.ts';

interface DebugEndpointsOptions {
  readonly source: DebugSource;
  readonly trends: Pick<NodeTrends, 'of'>;
  readonly lookup: Pick<PodLookup, 'find'>;
}

/**
 * `/debug/nodes` and `/debug/pods`: the state of nodes and pods, and why one is not served. Computed per request;
 * items that are not served come first. Parameters: `name`, `namespace` (of pods) and `limit`.
 */
export function debugEndpoints(options: DebugEndpointsOptions): ReadonlyMap<string, Endpoint> {
  const { source, trends, lookup } = options;
  return new Map<string, Endpoint>([
    [
      '/debug/nodes',
      async (context) => {
        const selection = readSelection(context, ['name', 'limit']);
        const { slices } = selection;
        const names =
          selection.name === undefined
            ? [...source.nodes.values()].map(({ name }) => name)
            : [selection.name];
        const nodes: NodeDescription[] = [];
        for (const name of names) {
          const node = describeNode(source, name, trends.of(name));
          nodes.push(node);
          const objects = OBJECTS_PER_NODE + (node.cached?.containers ?? 0);
          if (slices.isSliceSpent(objects)) await slices.yieldToEventLoop(selection.signal);
        }
        nodes.sort(compareNodes);
        await respond(context, { ...countServed(nodes), items: nodes.slice(0, selection.limit) });
      },
    ],
    [
      '/debug/pods',
      async (context) => {
        const selection = readSelection(context, ['name', 'namespace', 'limit']);
        const { name, namespace } = selection;
        if (name === undefined) return respond(context, await describePods(source, selection));
        if (namespace === undefined)
          throw badRequest('the parameter "name" requires the parameter "namespace"');
        const pod = await describePod(source, { namespace, name }, lookup);
        await respond(context, { ...countServed([pod]), items: [pod] });
      },
    ],
  ]);
}

/** Encoding a node with its trend takes as long as encoding this many objects. */
const OBJECTS_PER_NODE = 10;

interface Selection extends PodSelection {
  readonly name: string | undefined;
}

/** @throws {StatusError} 405 for other methods, 400 for an unknown parameter or an invalid limit */
function readSelection({ method, state }: ApiContext, parameters: readonly string[]): Selection {
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed();
  refuseUnknownParameters(state.query, parameters);
  const limit = parseCount(state.query.get('limit'));
  return {
    name: state.query.get('name') || undefined,
    namespace: state.query.get('namespace') || undefined,
    limit: limit > 0 ? limit : Number.POSITIVE_INFINITY,
    slices: state.slices,
    signal: state.deadline.signal,
  };
}

async function respond(
  context: ApiContext,
  body: DebugResponse<NodeDescription | PodDescription>,
): Promise<void> {
  const { slices, deadline } = context.state;
  writeBody(context, await encodeDebugResponse(body, { slices, signal: deadline.signal }), 'json');
}

function countServed(items: readonly { readonly served: boolean }[]): Omit<DebugResponse<never>, 'items'> {
  return { total: items.length, served: items.filter(({ served }) => served).length };
}

function compareNodes(a: NodeDescription, b: NodeDescription): number {
  const isFailing = ({ served, scrape }: NodeDescription) => (served && !scrape?.failure ? 1 : 0);
  return isFailing(a) - isFailing(b) || (a.name < b.name ? -1 : 1);
}
