import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { QueueClusterOrder } from './cluster-main.ts';
import type { QueueRequests } from './filled-queues.ts';
import type { QueueClusterCounts, QueueClusterOptions } from './queue-cluster.ts';

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly problem?: string;
}

/** A cluster of ScaledObjects in a child process, which ends with this one. */
export class QueueClusterProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;
  readonly #replies = new Map<number, (reply: Reply) => void>();
  #orders = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, 'exit').then(() => {
      throw new Error('The cluster has ended');
    });
    this.#ended.catch(() => {}); // reported to the waiting caller
    child.on('message', (reply: Reply) => {
      this.#replies.get(reply.id)?.(reply);
      this.#replies.delete(reply.id);
    });
  }

  /** @returns the cluster and the path of its administrator's kubeconfig, when all objects exist */
  static async start(
    options: QueueClusterOptions,
    signal?: AbortSignal,
  ): Promise<{ readonly cluster: QueueClusterProcess; readonly kubeconfig: string }> {
    const main = new URL('./cluster-main.ts', import.meta.url);
    const cluster = new QueueClusterProcess(fork(main, [JSON.stringify(options)]));
    try {
      return { cluster, kubeconfig: (await cluster.#reply(0, signal)) as string };
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  async counts(): Promise<QueueClusterCounts> {
    return (await this.#order({ kind: 'counts' })) as QueueClusterCounts;
  }

  async paths(): Promise<readonly string[]> {
    return (await this.#order({ kind: 'paths' })) as readonly string[];
  }

  /** Observes requests to queues during `run`. */
  async requestsWhile(run: () => Promise<void>): Promise<QueueRequests> {
    await this.#order({ kind: 'watch' });
    await run();
    return (await this.#order({ kind: 'requests' })) as QueueRequests;
  }

  /** Leaves further requests to one of the brokers without a response. */
  async hang(): Promise<void> {
    await this.#order({ kind: 'hang' });
  }

  /** Adds the first messages to an object's queue. @returns milliseconds until its target has replicas */
  async fill(index: number): Promise<number> {
    return (await this.#order({ kind: 'fill', index })) as number;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    if (this.#child.connected) this.#child.disconnect();
    await this.#ended.catch(() => {});
  }

  async #order(order: QueueClusterOrder): Promise<unknown> {
    const id = ++this.#orders;
    const reply = this.#reply(id);
    this.#child.send({ id, order });
    return await reply;
  }

  async #reply(id: number, signal?: AbortSignal): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    this.#replies.set(id, resolve);
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    const { result, problem } = await Promise.race([promise, this.#ended]);
    if (problem !== undefined) throw new Error(`Cannot start a cluster: ${problem}`);
    return result;
  }
}
