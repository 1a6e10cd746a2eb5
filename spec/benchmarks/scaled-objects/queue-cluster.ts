import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { KubernetesObject } from '#simulator/objects/kubernetes-object.ts';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { readDefinition } from '#spec/support/definition-file.ts';
import { FilledQueues, type QueueRequests } from './filled-queues.ts';
import { deployment, hpaStatus, kindOf, pathsOf, placeOf, queueOf, scaledObject } from './queued-objects.ts';

/** Number of ScaledObjects of each kind. */
export interface QueueClusterOptions {
  readonly objects: number;
  readonly namespaces: number;
  readonly pollingMs: number;
  /** Percentage of objects with a queue that is never empty. */
  readonly busyPercent: number;
  /** Number of objects with a scaler that pushes in place of a query. */
  readonly pushed: number;
}

/** State of the cluster. */
export interface QueueClusterCounts {
  /** Number of objects that are ready by their status. */
  readonly ready: number;
  readonly statusWrites: number;
  readonly hpaWrites: number;
  /** CPU time of the cluster's process. */
  readonly cpuMs: number;
  /** Longest delay of the event loop of the cluster and its queues since the last count. */
  readonly maxStallMs: number;
}

const CRDS = ['scaled-object', 'scaled-job', 'trigger-authentication', 'cluster-trigger-authentication'];
const OBJECTS = 'scaledobjects.keda.sh';
const HPAS = 'horizontalpodautoscalers.autoscaling';
const DEPLOYMENTS = 'deployments.apps';
/** Sync period of the HPA controller. */
const HPA_SYNC_MS = 15_000;
const MESSAGES = 5;

/** A simulated cluster of ScaledObjects and their Deployments, with queues to poll and HPAs with changing statuses. */
export class QueueCluster implements AsyncDisposable {
  readonly #options: QueueClusterOptions;
  readonly #cluster: SimulatedCluster;
  readonly #queues: FilledQueues;
  readonly #stack: AsyncDisposableStack;
  readonly #awaited = new Map<string, (atMs: number) => void>();
  readonly #ready = new Set<string>();
  readonly #counts = { statusWrites: 0, hpaWrites: 0 };
  readonly #stalls = monitorEventLoopDelay();
  #watched: () => QueueRequests = () => ({ requests: 0, distinctQueries: 0, deviationsMs: [] });

  private constructor(
    options: QueueClusterOptions,
    { cluster, queues }: { readonly cluster: SimulatedCluster; readonly queues: FilledQueues },
    stack: AsyncDisposableStack,
  ) {
    this.#options = options;
    this.#cluster = cluster;
    this.#queues = queues;
    this.#stack = stack;
  }

  static async start(options: QueueClusterOptions): Promise<QueueCluster> {
    await using stack = new AsyncDisposableStack();
    const { objects, namespaces, pollingMs } = options;
    const cluster = stack.use(await startCluster({ nodes: 2, podsPerNode: 0, namespaces }));
    const intervals = new Map<string, number>();
    for (let index = 0; index < objects; index++) {
      const { isBusy, isPushed } = kindOf(index, options);
      const intervalMs = isBusy ? Math.min(pollingMs, HPA_SYNC_MS) : pollingMs;
      if (!isPushed) intervals.set(queueOf(index), intervalMs);
    }
    const queues = stack.use(await FilledQueues.start((query) => intervals.get(query.split('"')[1] ?? '')));
    const queueCluster = new QueueCluster(options, { cluster, queues }, stack.move());
    await queueCluster.#create();
    queueCluster.#count();
    queueCluster.#updateHpas();
    return queueCluster;
  }

  get kubeconfig(): string {
    return this.#cluster.files.kubeconfig;
  }

  get counts(): QueueClusterCounts {
    const { user, system } = process.cpuUsage();
    const maxStallMs = this.#stalls.max / 1e6;
    return { ready: this.#ready.size, ...this.#counts, cpuMs: (user + system) / 1000, maxStallMs };
  }

  /** Paths that HPAs request. */
  get paths(): readonly string[] {
    return Array.from({ length: this.#options.objects }, (_, index) => pathsOf(index, this.#options)).flat();
  }

  watch(): void {
    this.#stalls.enable();
    this.#stalls.reset();
    this.#watched = this.#queues.watch();
  }

  /** Requests to queues since {@link QueueCluster.watch}. */
  get requests(): QueueRequests {
    return this.#watched();
  }

  hang(): void {
    this.#queues.hang();
  }

  /** Adds the first messages to an object's queue. @returns milliseconds until its target has replicas */
  async fill(index: number): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    const { namespace, name } = placeOf(index, this.#options);
    this.#awaited.set(`${namespace}/${name}`, resolve);
    const filledAtMs = performance.now();
    this.#queues.fill(queueOf(index), MESSAGES);
    return (await promise) - filledAtMs;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }

  async #create(): Promise<void> {
    const { store } = this.#cluster;
    for (const name of CRDS) {
      const definition = readDefinition(`keda/${name}`);
      store.create('customresourcedefinitions.apiextensions.k8s.io', definition);
    }
    for (let index = 0; index < this.#options.objects; index++) {
      const { isBusy } = kindOf(index, this.#options);
      if (isBusy) this.#queues.fill(queueOf(index), MESSAGES);
      store.create(DEPLOYMENTS, deployment(index, this.#options));
      store.create(OBJECTS, scaledObject(index, this.#options, this.#queues));
      if (index % 20 === 0) await new Promise((resolve) => setImmediate(resolve)); // yields to pod creation
    }
    store.compact();
  }

  #count(): void {
    this.#cluster.store.subscribe(({ resource, object, previous }) => {
      const key = `${object.metadata.namespace}/${object.metadata.name}`;
      if (resource === OBJECTS) {
        this.#counts.statusWrites++;
        if (isReady(object)) this.#ready.add(key);
      }
      if (resource === HPAS && object.metadata.generation !== previous?.metadata.generation)
        this.#counts.hpaWrites++;
      if (resource === DEPLOYMENTS && previous && replicasOf(object) > replicasOf(previous))
        this.#awaited.get(key)?.(performance.now());
    });
  }

  /** Changes the HPA statuses of busy objects every 15 s, as for changing metrics. */
  #updateHpas(): void {
    const busy = Array.from({ length: this.#options.objects }, (_, index) => index).filter(
      (index) => kindOf(index, this.#options).isBusy,
    );
    let updates = 0;
    const timer = setInterval(() => {
      const index = busy[updates++ % busy.length] ?? 0;
      const { namespace, name } = placeOf(index, this.#options);
      const hpa = this.#cluster.store.get(HPAS, namespace, `keda-hpa-${name}`);
      if (hpa) this.#cluster.store.update(HPAS, { ...hpa, status: hpaStatus(updates) });
    }, HPA_SYNC_MS / busy.length);
    this.#stack.defer(() => clearInterval(timer));
  }
}

function isReady({ status }: KubernetesObject): boolean {
  const { conditions = [] } = (status ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  const is = (type: string) => conditions.find((one) => one.type === type)?.status;
  return is('Ready') === 'True' && is('Active') !== undefined && is('Active') !== 'Unknown';
}

function replicasOf({ spec }: KubernetesObject): number {
  return (spec as { readonly replicas?: number }).replicas ?? 0;
}
