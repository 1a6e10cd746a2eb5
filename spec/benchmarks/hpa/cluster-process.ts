import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { ClusterMessage, ClusterOrder } from './cluster-main.ts';
import type { ClusterCounts, Reaction, ScaledClusterOptions } from './scaled-cluster.ts';

/** A cluster of HPAs in a child process, which ends with this one. */
export class ClusterProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;
  readonly #scaled = new Map<number, (reaction: Reaction) => void>();

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, 'exit').then(() => {
      throw new Error('The cluster has ended');
    });
    this.#ended.catch(() => {}); // reported to the waiting caller
    child.on('message', (message: ClusterMessage) => {
      if (message.kind === 'scaled') this.#scaled.get(message.index)?.(message.reaction);
    });
  }

  /** @returns the cluster and the path of its administrator's kubeconfig, when all pods run */
  static async start(
    options: ScaledClusterOptions,
    signal?: AbortSignal,
  ): Promise<{ readonly cluster: ClusterProcess; readonly kubeconfig: string }> {
    const main = new URL('./cluster-main.ts', import.meta.url);
    const cluster = new ClusterProcess(fork(main, [JSON.stringify(options)]));
    try {
      for (;;) {
        const message = await cluster.#next(signal);
        if (message.kind === 'failed') throw new Error(`Cannot start a cluster: ${message.problem}`);
        if (message.kind === 'ready') return { cluster, kubeconfig: message.kubeconfig };
      }
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  async counts(): Promise<ClusterCounts> {
    this.#report({ kind: 'counts' });
    for (;;) {
      const message = await this.#next();
      if (message.kind === 'counts') return message.counts;
    }
  }

  /** Raises the usage of an HPA's pods. @returns the delay until its scale was written */
  async raise(index: number, percent: number): Promise<Reaction> {
    const { promise, resolve } = Promise.withResolvers<Reaction>();
    this.#scaled.set(index, resolve);
    this.#report({ kind: 'raise', index, percent });
    return await promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    if (this.#child.connected) this.#child.disconnect();
    await this.#ended.catch(() => {});
  }

  async #next(signal?: AbortSignal): Promise<ClusterMessage> {
    const message = once(this.#child, 'message', signal ? { signal } : {});
    const [first] = await Promise.race([message, this.#ended]);
    return first;
  }

  #report(order: ClusterOrder): void {
    this.#child.send(order);
  }
}
