import type { SharedInformer } from '#lib/kubernetes/informer/shared-informers.ts';
import { POD_INDEXES, type Pod, type PodNeeds, selectPods } from '#lib/kubernetes/objects/pod.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';

/** The fields of a pod that polling it and serving its values need. */
export interface TargetPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Absent until it has one. */
  readonly ip: string | undefined;
  /** Milliseconds since the Unix epoch; `undefined` while the pod is not ready, or is being deleted. */
  readonly readySinceMs: number | undefined;
  /** As of {@link Pod}. */
  readonly omitted?: string;
}

/** How {@link TargetPods} use the informer of pods. */
export const TARGET_PODS = {
  needs: { fields: ['address'] } satisfies PodNeeds,
  indexes: POD_INDEXES,
  view: targetPod,
};

/** A pod as the target of requests. */
function targetPod({ namespace, name, uid, labels, ip, phase, isDeleting, ready, omitted }: Pod): TargetPod {
  const isReady = ready?.status === 'True' && !isDeleting && phase === 'Running';
  const sinceMs = ready?.changedAtMs ?? 0;
  return {
    ...{ namespace, name, uid, labels, ip },
    ...(omitted !== undefined && { omitted }),
    readySinceMs: isReady ? (Number.isFinite(sinceMs) ? sinceMs : 0) : undefined,
  };
}

/**
 * The pods of workloads. They are cached from the first selection on, so they cost nothing while no HPA has a Pods
 * metric.
 */
export class TargetPods {
  readonly #pods: Pick<SharedInformer<TargetPod>, 'start' | 'synced' | 'find' | 'findBy'>;

  constructor(pods: Pick<SharedInformer<TargetPod>, 'start' | 'synced' | 'find' | 'findBy'>) {
    this.#pods = pods;
  }

  /**
   * The pods of a namespace that match a selector, whatever their state.
   *
   * @throws {SelectionError} as {@link selectPods}
   */
  async select(namespace: string, selectorText: string, signal: AbortSignal): Promise<readonly TargetPod[]> {
    this.#pods.start();
    await this.#pods.synced(signal);
    return selectPods(this.#pods, namespace, parseLabelSelector(selectorText));
  }

  /** The live pod of a name; `undefined` if it has been replaced or deleted. */
  live(
    namespace: string,
    { name, uid }: { readonly name: string; readonly uid: string },
  ): TargetPod | undefined {
    const pod = this.#pods.find(`${namespace}/${name}`);
    return pod?.uid === uid ? pod : undefined;
  }
}

/**
 * Whether a pod may be polled: it has been ready for long enough. A minimum of 0 ignores the clock, which may be
 * behind.
 */
export function isReadyFor(pod: TargetPod, ageMs: number, nowMs: number): boolean {
  return pod.readySinceMs !== undefined && (ageMs === 0 || nowMs - pod.readySinceMs >= ageMs);
}
