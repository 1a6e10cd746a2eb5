import { Client } from 'undici';
import { readAdminAccess } from '../credentials.ts';
import type { BackgroundLoad, LoadOutcome } from './background-load.ts';
import { pace } from './pace.ts';

const PODS_PER_SECOND = 100;

/**
 * Replaces pods in the order of the list: deletes one, and creates another with the same labels and containers, which
 * the scheduler binds and a kubelet runs. The number of pods stays the same.
 */
export const CHURN_LOAD: BackgroundLoad = {
  name: 'churn',
  what: `${PODS_PER_SECOND} pods/s deleted and created`,
  async prepare({ system }) {
    const { apiServerOrigin, tls } = await readAdminAccess(system);
    const connect = { ...tls, rejectUnauthorized: false };
    await using stack = new AsyncDisposableStack();
    const client = new Client(apiServerOrigin, { connect, allowH2: true });
    stack.defer(() => client.close());
    const pods = await listPods(client);
    const owned = stack.move();
    return {
      run: (forMs) => replaceInTurn(client, pods, forMs),
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    };
  },
};

/** @param pods all pods; replacements are appended */
async function replaceInTurn(client: Client, pods: ChurningPod[], forMs: number): Promise<LoadOutcome> {
  let requests = 0;
  await pace({ everyMs: 1000 / PODS_PER_SECOND, forMs }, async (index) => {
    const next = pods.shift();
    if (!next) return; // all are being replaced
    const { namespace, name } = next.metadata;
    const collection = `/api/v1/namespaces/${namespace}/pods`;
    await change(client, 'DELETE', `${collection}/${name}`);
    const successor = successorOf(next, index);
    await change(client, 'POST', collection, successor);
    pods.push(successor);
    requests += 1;
  });
  return { requests, latenciesMs: [] };
}

/** The fields of a pod that are read. */
export interface ChurningPod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly containers: readonly { readonly name: string }[] };
}

/** A copy of a pod with a new name and without a node. */
export function successorOf({ metadata, spec }: ChurningPod, index: number): ChurningPod {
  const { name, namespace, labels = {} } = metadata;
  return {
    metadata: { name: `${name.replace(/-churn-\d+$/, '')}-churn-${index}`, namespace, labels },
    spec: { containers: spec.containers.map((container) => ({ name: container.name })) },
  };
}

async function listPods(client: Client): Promise<ChurningPod[]> {
  const { statusCode, body } = await client.request({ method: 'GET', path: '/api/v1/pods' });
  if (statusCode !== 200) throw new Error(`Cannot list pods: ${statusCode}, ${await body.text()}`);
  const { items } = (await body.json()) as { items: ChurningPod[] };
  // Retaining whole objects of thousands of pods would need too much memory.
  return items.map(({ metadata, spec }) => ({
    metadata: {
      name: metadata.name,
      namespace: metadata.namespace,
      ...(metadata.labels && { labels: metadata.labels }),
    },
    spec: { containers: spec.containers.map(({ name }) => ({ name })) },
  }));
}

async function change(client: Client, method: 'DELETE' | 'POST', path: string, object?: object) {
  const json = { 'content-type': 'application/json' };
  const sent = object ? { headers: json, body: JSON.stringify(object) } : {};
  const { statusCode, body } = await client.request({ method, path, ...sent });
  const response = await body.text();
  if (statusCode >= 300) throw new Error(`Cannot ${method} ${path}: ${statusCode}, ${response}`);
}
