import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { CertificateAuthority } from '#simulator/access/certificate-authority.ts';
import type { ReadyPod, ReadyPods } from './ready-pods.ts';

/** Load of each app, as the number of replicas that would run exactly at the target. */
export type Loads = ReadonlyMap<string, number>;

/** Target of one replica for each metric. */
export const TARGETS = { cpuMillicores: 50, memoryKibibytes: 65_536, items: 10 } as const;

/**
 * Serves all three metrics APIs behind the aggregator of a real API server. Values follow from the loads that a spec
 * sets, divided among the ready pods of each app.
 */
export class ScriptedMetrics implements AsyncDisposable {
  loads: Loads = new Map();
  readonly port: number;
  readonly #pods: ReadyPods;
  readonly #owned: AsyncDisposable;

  private constructor(pods: ReadyPods, { port, owned }: { port: number; owned: AsyncDisposable }) {
    this.#pods = pods;
    this.port = port;
    this.#owned = owned;
  }

  static async start(pods: ReadyPods): Promise<ScriptedMetrics> {
    const { certificatePem: cert, privateKeyPem: key } = new CertificateAuthority('metrics').issue({
      subject: { commonName: 'metrics' },
      usages: ['serverAuth'],
    });
    const server = createServer({ cert, key }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const owned = {
      async [Symbol.asyncDispose]() {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      },
    };
    const { port } = server.address() as AddressInfo;
    const metrics = new ScriptedMetrics(pods, { port, owned });
    server.on('request', (request: IncomingMessage, response) => {
      const body = metrics.#respond(new URL(request.url ?? '', 'https://metrics.example'));
      response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(body ?? { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 }),
      );
    });
    return metrics;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned[Symbol.asyncDispose]();
  }

  #respond({ pathname, searchParams }: URL): object | undefined {
    const [, apis, group = '', version = '', namespaces, namespace = '', ...rest] =
      decodeURIComponent(pathname).split('/');
    if (apis !== 'apis') return undefined;
    const groupVersion = `${group}/${version}`;
    if (namespaces === undefined)
      return { kind: 'APIResourceList', groupVersion, resources: RESOURCES[group] };
    const pods = this.#pods.of(namespace).filter(selectedBy(searchParams.get('labelSelector')));
    if (group === 'metrics.k8s.io') return this.#podMetrics(pods);
    const [resource = '', name = ''] = rest;
    if (group === 'external.metrics.k8s.io') {
      const shared = resource.endsWith('-total') ? 1 : this.#readyOf(namespace, appOf(resource));
      const value = milli((this.#load(appOf(resource)) * TARGETS.items) / shared);
      return list(groupVersion, 'ExternalMetricValueList', [
        { metricName: resource, metricLabels: {}, timestamp: now(), value },
      ]);
    }
    const described = resource === 'pods' ? pods.map((pod) => [pod.name, appOfPod(pod)]) : [[name, name]];
    return list(
      groupVersion,
      'MetricValueList',
      described.map(([object = '', app = '']) => ({
        describedObject: {
          kind: resource === 'pods' ? 'Pod' : 'Service',
          namespace,
          name: object,
          apiVersion: '/v1',
        },
        ...(version === 'v1beta1' ? { metricName: 'items' } : { metric: { name: 'items' } }),
        timestamp: now(),
        value: milli((this.#load(app) * TARGETS.items) / this.#readyOf(namespace, app)),
      })),
    );
  }

  #podMetrics(pods: readonly ReadyPod[]): object {
    const counts = new Map<string, number>();
    for (const pod of pods) counts.set(appOfPod(pod), (counts.get(appOfPod(pod)) ?? 0) + 1);
    const items = pods.map((pod) => {
      const share = this.#load(appOfPod(pod)) / (counts.get(appOfPod(pod)) ?? 1);
      const usage = {
        cpu: `${Math.round(share * TARGETS.cpuMillicores * 1e6)}n`,
        memory: `${Math.round(share * TARGETS.memoryKibibytes)}Ki`,
      };
      const { name, labels } = pod;
      return {
        metadata: { name, labels },
        timestamp: now(),
        window: '1s',
        containers: [{ name: 'app', usage }],
      };
    });
    return list('metrics.k8s.io/v1beta1', 'PodMetricsList', items);
  }

  #load(app: string): number {
    return this.loads.get(app) ?? 0;
  }

  #readyOf(namespace: string, app: string): number {
    return Math.max(1, this.#pods.of(namespace).filter((pod) => appOfPod(pod) === app).length);
  }
}

const RESOURCES: Readonly<Record<string, readonly object[]>> = {
  'metrics.k8s.io': [resourceOf('pods', 'PodMetrics')],
  'custom.metrics.k8s.io': [
    resourceOf('pods/items', 'MetricValueList'),
    resourceOf('services/items', 'MetricValueList'),
  ],
  'external.metrics.k8s.io': [],
};

function resourceOf(name: string, kind: string): object {
  return { name, singularName: '', namespaced: true, kind, verbs: ['get', 'list'] };
}

function list(apiVersion: string, kind: string, items: readonly object[]): object {
  return { kind, apiVersion, metadata: {}, items };
}

function now(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}

function milli(value: number): string {
  return `${Math.round(value * 1000)}m`;
}

/** App of an external metric: `APP-share` is divided among its pods, `APP-total` is not. */
function appOf(metric: string): string {
  return metric.replace(/-(?:share|total)$/, '');
}

function appOfPod({ labels }: ReadyPod): string {
  return labels.app ?? '';
}

/** Parses selectors of the form `app=NAME`. */
function selectedBy(selector: string | null): (pod: ReadyPod) => boolean {
  const [key = '', value] = (selector ?? '').split('=');
  return ({ labels }) => key === '' || labels[key] === value;
}
