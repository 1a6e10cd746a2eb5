import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import type { ObjectList } from '../control-plane/control-plane-client.ts';

const PERIOD_MS = 250;
const WORK_MS = 500;
const PODS = '/api/v1/namespaces/default/pods';

/** Acts as the kubelet for pods of Jobs: each pod starts, receives one message, processes it and ends. */
export class WorkingPods implements AsyncDisposable {
  readonly #controlPlane: ControlPlane;
  readonly #takeMessage: () => Promise<boolean>;
  readonly #stop = new AbortController();
  readonly #pods = new Map<string, Promise<void>>();
  readonly #loop: Promise<void>;
  #idle = 0;

  /** @param takeMessage removes a message from the queue; `false` if it is empty */
  constructor(controlPlane: ControlPlane, takeMessage: () => Promise<boolean>) {
    this.#controlPlane = controlPlane;
    this.#takeMessage = takeMessage;
    this.#loop = this.#watch();
  }

  /** Number of pods started so far. */
  get startedCount(): number {
    return this.#pods.size;
  }

  /** Number of pods that found no message, and so were redundant. */
  get idleCount(): number {
    return this.#idle;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#loop;
    await Promise.all(this.#pods.values());
  }

  async #watch(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#startNew().catch(() => {}); // the API server is busy; the next poll retries
      await sleep(PERIOD_MS, undefined, { signal: this.#stop.signal }).catch(() => {});
    }
  }

  async #startNew(): Promise<void> {
    const { items } = await this.#controlPlane.client.get<ObjectList>(`${PODS}?labelSelector=job-name`);
    for (const { metadata } of items) {
      const { uid = '', name } = metadata;
      if (!this.#pods.has(uid)) this.#pods.set(uid, this.#run(name, this.#pods.size % 2 === 0));
    }
  }

  /** @param takesFirst whether the message is removed at the start or at the end; queues support both */
  async #run(name: string, takesFirst: boolean): Promise<void> {
    await this.#report(name, { phase: 'Running', startTime: timeNow() });
    if (takesFirst) await this.#take();
    await sleep(WORK_MS);
    if (!takesFirst) await this.#take();
    await this.#report(name, { phase: 'Succeeded' });
  }

  async #take(): Promise<void> {
    if (!(await this.#takeMessage())) this.#idle++;
  }

  async #report(name: string, status: object): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const isReported = await this.#controlPlane.client.patch(`${PODS}/${name}/status`, { status }).then(
        () => true,
        () => false,
      );
      if (isReported) return;
      await sleep(PERIOD_MS);
    }
  }
}

function timeNow(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
