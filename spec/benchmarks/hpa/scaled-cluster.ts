import { once } from 'node:events';
import { createSecureServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { CertificateAuthority } from '#simulator/access/certificate-authority.ts';
import type { KubernetesObject } from '#simulator/objects/kubernetes-object.ts';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';

/** Number of HPAs and the objects of each. */
export interface ScaledClusterOptions {
  readonly hpas: number;
  readonly podsPerHpa: number;
  readonly namespaces: number;
  /** Percentage of HPAs for which the pods' usage changes between samples; it is constant for the others. */
  readonly wanderingPercent: number;
}

/** Requests to the cluster so far. */
export interface ClusterCounts {
  /** Time of the count by the cluster's own clock, so that a delayed reply does not affect rates. */
  readonly atMs: number;
  /** Number of requests for the usage of a namespace's pods. */
  readonly usageLists: number;
  readonly statusWrites: number;
  readonly configMapWrites: number;
  readonly scaleWrites: number;
  /** CPU time of the cluster's process. */
  readonly cpuMs: number;
  /** Longest delay of the event loop since the last count: a request may have waited this long. */
  readonly maxDelayMs: number;
}

/** Delays after the load of an HPA is raised. */
export interface Reaction {
  /** Until the first usage list with the raised load is sent: no client can observe it earlier. */
  readonly shownMs: number;
  /** Until the scale is written. */
  readonly scaledMs: number;
}

/** Default usage of each pod as a percentage of its CPU request, and its variation within the tolerance. */
const STEADY_PERCENT = 50;
const WANDERS_PERCENT = 4;
/** Samples are as old as those of a metrics server with a resolution of 15 s. */
const RESOLUTION_MS = 15_000;

interface Awaited {
  readonly scaled: (atMs: number) => void;
  shownAtMs: number | undefined;
}

/** A simulated cluster of HPAs, their Deployments and pods, with varying resource metrics. */
export class ScaledCluster implements AsyncDisposable {
  readonly #options: ScaledClusterOptions;
  readonly #cluster: SimulatedCluster;
  readonly #stack: AsyncDisposableStack;
  readonly #raised = new Map<string, number>();
  readonly #awaited = new Map<string, Awaited>();
  readonly #delay = monitorEventLoopDelay({ resolution: 10 });
  readonly #pods = new Map<string, Map<string, KubernetesObject>>();
  readonly #counts = { usageLists: 0, statusWrites: 0, configMapWrites: 0, scaleWrites: 0 };

  private constructor(options: ScaledClusterOptions, cluster: SimulatedCluster, stack: AsyncDisposableStack) {
    this.#options = options;
    this.#cluster = cluster;
    this.#stack = stack;
  }

  static async start(options: ScaledClusterOptions): Promise<ScaledCluster> {
    await using stack = new AsyncDisposableStack();
    const { namespaces } = options;
    const cluster = stack.use(await startCluster({ nodes: 20, podsPerNode: 0, namespaces }));
    const scaled = new ScaledCluster(options, cluster, stack.move());
    try {
      scaled.#watchPods();
      await scaled.#serveUsage();
      await scaled.#create();
      scaled.#count();
    } catch (error) {
      await scaled[Symbol.asyncDispose]();
      throw error;
    }
    return scaled;
  }

  get kubeconfig(): string {
    return this.#cluster.files.kubeconfig;
  }

  /** @returns counts up to now */
  takeCounts(): ClusterCounts {
    const { user, system } = process.cpuUsage();
    const maxDelayMs = this.#delay.max / 1e6;
    this.#delay.reset();
    return { ...this.#counts, atMs: performance.now(), cpuMs: (user + system) / 1000, maxDelayMs };
  }

  /** Raises the usage of an HPA's pods. @returns the delay until its scale was written */
  async raise(index: number, percent: number): Promise<Reaction> {
    const key = placeOf(index, this.#options.namespaces);
    const startedAtMs = performance.now();
    const { promise, resolve } = Promise.withResolvers<number>();
    const awaited: Awaited = { scaled: resolve, shownAtMs: undefined };
    this.#awaited.set(key, awaited);
    this.#raised.set(key, percent);
    const scaledAtMs = await promise;
    const { shownAtMs = scaledAtMs } = awaited;
    return { shownMs: shownAtMs - startedAtMs, scaledMs: scaledAtMs - startedAtMs };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }

  async #create(): Promise<void> {
    const { hpas, podsPerHpa, namespaces } = this.#options;
    const { store } = this.#cluster;
    for (let index = 0; index < hpas; index++) {
      const [namespace = '', name = ''] = placeOf(index, namespaces).split('/');
      store.create('deployments.apps', deployment(namespace, name, podsPerHpa));
      store.create('horizontalpodautoscalers.autoscaling', hpa(namespace, name));
      if (index % 20 === 0) await new Promise((resolve) => setImmediate(resolve)); // yields to pod creation
    }
    while (store.list('pods').items.length < hpas * podsPerHpa)
      await new Promise((resolve) => setTimeout(resolve, 50));
    store.compact();
  }

  #count(): void {
    this.#delay.enable();
    this.#cluster.store.subscribe(({ resource, object, previous }) => {
      if (resource === 'configmaps') this.#counts.configMapWrites++;
      if (resource === 'horizontalpodautoscalers.autoscaling') this.#counts.statusWrites++;
      if (resource !== 'deployments.apps' || !previous || replicasOf(object) === replicasOf(previous)) return;
      this.#counts.scaleWrites++;
      this.#awaited.get(`${object.metadata.namespace}/${object.metadata.name}`)?.scaled(performance.now());
    });
  }

  #watchPods(): void {
    this.#cluster.store.subscribe(({ type, resource, object }) => {
      if (resource !== 'pods') return;
      const { namespace = '', name } = object.metadata;
      const pods = this.#pods.get(namespace) ?? new Map<string, KubernetesObject>();
      this.#pods.set(namespace, pods);
      if (type === 'DELETED') pods.delete(name);
      else pods.set(name, object);
    });
  }

  async #serveUsage(): Promise<void> {
    const { certificatePem: cert, privateKeyPem: key } = new CertificateAuthority('metrics').issue({
      subject: { commonName: 'metrics' },
      usages: ['serverAuth'],
    });
    const server = createSecureServer({ cert, key }, (request, response) => {
      const [, , group, version, , namespace] = request.url.split('?', 1)[0]?.split('/') ?? [];
      response.writeHead(200, { 'content-type': 'application/json' });
      if (namespace === undefined) {
        const groupVersion = `${group}/${version}`;
        response.end(JSON.stringify({ kind: 'APIResourceList', groupVersion, resources: [] }));
        return;
      }
      this.#counts.usageLists++;
      response.end(JSON.stringify({ kind: 'PodMetricsList', items: this.#usageOf(namespace) }));
    }).listen(0, '127.0.0.1');
    const sessions = new Set<ServerHttp2Session>();
    server.on('session', (session) => sessions.add(session));
    await once(server, 'listening');
    this.#stack.defer(() => {
      for (const session of sessions) session.destroy();
      server.close();
    });
    this.#cluster.registerMetricsServer({
      host: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
    });
  }

  #usageOf(namespace: string): readonly object[] {
    const sampledAtMs = Math.floor(Date.now() / RESOLUTION_MS) * RESOLUTION_MS;
    const timestamp = new Date().toISOString();
    return [...(this.#pods.get(namespace)?.values() ?? [])].map(({ metadata: { name, labels = {} } }) => {
      const place = Number(labels.place);
      const isWandering = place % 100 < this.#options.wanderingPercent;
      const wanders = isWandering ? Math.round(WANDERS_PERCENT * Math.sin(sampledAtMs / 7_000 + place)) : 0;
      const key = `${namespace}/${labels.app}`;
      const percent = this.#raised.get(key) ?? STEADY_PERCENT + wanders;
      const awaited = this.#awaited.get(key);
      if (awaited) awaited.shownAtMs ??= performance.now();
      return {
        metadata: { name, namespace, labels },
        ...{ timestamp, window: '5s' },
        containers: [{ name: 'app', usage: { cpu: `${percent * 1_000_000}n`, memory: '64Mi' } }],
      };
    });
  }
}

function placeOf(index: number, namespaces: number): string {
  return `team-${(index % namespaces) + 1}/web-${index}`;
}

function replicasOf({ spec }: KubernetesObject): unknown {
  return (spec as { readonly replicas?: number }).replicas;
}

function deployment(namespace: string, name: string, replicas: number) {
  const labels = { app: name, place: name.slice('web-'.length) };
  const container = { name: 'app', image: 'web', resources: { requests: { cpu: '100m' } } };
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace, name, generation: 1 } },
    spec: {
      ...{ replicas, selector: { matchLabels: { app: name } } },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  };
}

function hpa(namespace: string, name: string) {
  const target = { type: 'Utilization', averageUtilization: STEADY_PERCENT };
  return {
    ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { namespace, name } },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      ...{ minReplicas: 2, maxReplicas: 100 },
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }],
    },
  };
}
