import { Informer, type InformerOptions } from '#lib/kubernetes/informer/informer.ts';
import { readTargetPod, TARGET_POD_INDEXES, type TargetPod } from '#lib/kubernetes/objects/pod.ts';
import type { FollowedPods } from './target-pods.ts';

/** Follows all pods from when somebody first wants to know any: where no HPA has a Pods metric, that costs nothing. */
export class PodsOnDemand implements FollowedPods, AsyncDisposable {
  readonly #options: Pick<InformerOptions<TargetPod>, 'client' | 'clock' | 'logger' | 'relistMs'>;
  #informer: Informer<TargetPod> | undefined;
  #isDisposed = false;

  constructor(options: Pick<InformerOptions<TargetPod>, 'client' | 'clock' | 'logger' | 'relistMs'>) {
    this.#options = options;
  }

  find(key: string): TargetPod | undefined {
    return this.#informer?.find(key);
  }

  findBy(index: keyof typeof TARGET_POD_INDEXES, word: string): readonly TargetPod[] {
    return this.#informer?.findBy(index, word) ?? [];
  }

  async synced(signal: AbortSignal): Promise<void> {
    if (this.#isDisposed) throw new Error('pods are not followed any more');
    if (!this.#informer) {
      const { client, clock, logger, relistMs } = this.#options;
      this.#informer = new Informer({
        ...{ client, clock, logger, relistMs },
        collection: { path: '/api/v1/pods' },
        transform: readTargetPod,
        indexes: TARGET_POD_INDEXES,
      });
      this.#informer.start();
    }
    await this.#informer.synced(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await this.#informer?.[Symbol.asyncDispose]();
  }
}
