import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import type { ObjectList } from '../control-plane/control-plane-client.ts';

const PERIOD_MS = 250;
const PODS = '/api/v1/namespaces/default/pods';

/** Marks every pod of the namespace `default` as running and ready at 127.0.0.1; no containers run. */
export class ReadyPods implements AsyncDisposable {
  readonly #controlPlane: ControlPlane;
  readonly #apps = new Map<string, number>();
  readonly #stop = new AbortController();
  readonly #loop: Promise<void>;

  constructor(controlPlane: ControlPlane) {
    this.#controlPlane = controlPlane;
    this.#loop = this.#watch();
  }

  /** Number of pods with this value of the label `app`. */
  countOf(app: string): number {
    return this.#apps.get(app) ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #watch(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#sync().catch(() => {}); // a pod may be deleted meanwhile; the next poll handles it
      await sleep(PERIOD_MS, undefined, { signal: this.#stop.signal }).catch(() => {});
    }
  }

  async #sync(): Promise<void> {
    const { client } = this.#controlPlane;
    const { items } = await client.get<ObjectList>(PODS);
    const live = items.filter(({ metadata }) => !metadata.deletionTimestamp);
    const apps = Map.groupBy(live, ({ metadata }) => metadata.labels?.app ?? '');
    this.#apps.clear();
    for (const [app, pods] of apps) this.#apps.set(app, pods.length);
    const now = `${new Date().toISOString().slice(0, 19)}Z`;
    for (const { metadata, status } of live) {
      if ((status as { readonly phase?: string } | undefined)?.phase === 'Running') continue;
      const conditions = ['Initialized', 'ContainersReady', 'Ready'].map((type) => ({
        ...{ type, status: 'True', lastTransitionTime: now },
      }));
      const running = { phase: 'Running', podIP: '127.0.0.1', startTime: now, conditions };
      await client.patch(`${PODS}/${metadata.name}/status`, { status: running });
    }
  }
}
