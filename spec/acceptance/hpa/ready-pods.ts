import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '#simulator/objects/kubernetes-object.ts';
import type { ControlPlaneClient, ObjectList } from '../control-plane/control-plane-client.ts';

const PERIOD_MS = 200;

/** A ready pod, with the fields that metrics need. */
export interface ReadyPod {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * Acts as the kubelet in some namespaces of a real control plane: marks each pod as running and ready. Pods are bound
 * to no node, so the API server itself completes their deletion.
 */
export class ReadyPods implements AsyncDisposable {
  readonly #client: ControlPlaneClient;
  readonly #namespaces: readonly string[];
  readonly #stop = new AbortController();
  readonly #loop: Promise<void>;
  #ready = new Map<string, readonly ReadyPod[]>();
  #failure: Error | undefined;

  constructor(client: ControlPlaneClient, namespaces: readonly string[]) {
    this.#client = client;
    this.#namespaces = namespaces;
    this.#loop = this.#watch().catch((error: Error) => {
      this.#failure = error;
    });
  }

  /** Ready pods of a namespace. @throws Error after it has failed */
  of(namespace: string): readonly ReadyPod[] {
    if (this.#failure) throw this.#failure;
    return this.#ready.get(namespace) ?? [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await Promise.all(this.#namespaces.map((namespace) => this.#sync(namespace)));
      await sleep(PERIOD_MS, undefined, { signal }).catch(() => {});
    }
  }

  async #sync(namespace: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const { items } = await this.#client.get<ObjectList>(path);
    const live = items.filter(({ metadata }) => !metadata.deletionTimestamp);
    await Promise.all(live.filter((pod) => !isReady(pod)).map((pod) => this.#run(path, pod)));
    const ready = live.map(({ metadata: { name, labels = {} } }) => ({ name, labels }));
    this.#ready = new Map(this.#ready).set(namespace, ready);
  }

  async #run(path: string, { metadata: { name } }: KubernetesObject): Promise<void> {
    const now = `${new Date().toISOString().slice(0, 19)}Z`;
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: now }];
    const status = { phase: 'Running', startTime: now, conditions };
    await this.#client.patch(`${path}/${name}/status`, { status }).catch((error: { status?: number }) => {
      if (error.status !== 404) throw error; // deleted meanwhile
    });
  }
}

function isReady({ status }: KubernetesObject): boolean {
  return (status as { readonly phase?: string } | undefined)?.phase === 'Running';
}
