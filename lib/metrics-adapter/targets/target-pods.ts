import { labelWord, type TargetPod } from '#lib/kubernetes/objects/pod.ts';
import { type LabelSelector, parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';

/** Pods, as an informer that has `TARGET_POD_INDEXES` finds them. */
export interface FollowedPods {
  find(key: string): TargetPod | undefined;
  findBy(index: 'labels' | 'namespace', word: string): readonly TargetPod[];
  /** Waits until all pods are known. */
  synced(signal: AbortSignal): Promise<void>;
}

/** The pods of workloads. */
export class TargetPods {
  readonly #pods: FollowedPods;

  constructor(pods: FollowedPods) {
    this.#pods = pods;
  }

  /** The pods of a namespace that a selector selects, whatever their state. */
  async select(namespace: string, selectorText: string, signal: AbortSignal): Promise<readonly TargetPod[]> {
    await this.#pods.synced(signal);
    const selector = parseLabelSelector(selectorText);
    return this.#candidates(namespace, selector).filter(({ labels }) => selector.matches(labels));
  }

  /** The live pod of a name; `undefined` where it is another one, or gone. */
  live(
    namespace: string,
    { name, uid }: { readonly name: string; readonly uid: string },
  ): TargetPod | undefined {
    const pod = this.#pods.find(`${namespace}/${name}`);
    return pod?.uid === uid ? pod : undefined;
  }

  /** Only those with one of the labels are looked at. */
  #candidates(namespace: string, { requirements }: LabelSelector): readonly TargetPod[] {
    const equality = requirements.find(
      ({ operator, values }) => ['=', '==', 'in'].includes(operator) && values.length === 1,
    );
    const [value] = equality?.values ?? [];
    return equality && value !== undefined
      ? this.#pods.findBy('labels', labelWord(namespace, equality.key, value))
      : this.#pods.findBy('namespace', namespace);
  }
}

/** Whether a pod may be asked: ready for so long already. Where any will do, nobody's clock matters: ours may be behind. */
export function isReadyFor(pod: TargetPod, ageMs: number, nowMs: number): boolean {
  return pod.readySinceMs !== undefined && (ageMs === 0 || nowMs - pod.readySinceMs >= ageMs);
}
