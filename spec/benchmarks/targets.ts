import type { SimulatedSystem } from '#spec/support/simulated-system.ts';

/** A pod, its namespace, and a selector for the pods of its app. */
export interface Target {
  readonly NAMESPACE: string;
  readonly POD: string;
  readonly SELECTOR: string;
}

/** The fields of a PodMetrics object that are read. */
export interface ServedPod {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly labels?: { readonly app?: string };
  };
}

/**
 * One target for each app with metrics, in the order of the list.
 *
 * @throws Error if there is none
 */
export async function findTargets({ kubectl }: SimulatedSystem): Promise<[Target, ...Target[]]> {
  const { stdout } = await kubectl.run(['get', '--raw', '/apis/metrics.k8s.io/v1beta1/pods']);
  const [first, ...others] = targetsAmong((JSON.parse(stdout) as { items: ServedPod[] }).items);
  if (first === undefined) throw new Error('Cannot measure requests: no pod has metrics');
  return [first, ...others];
}

/** Selects the first pod of each app in each namespace. */
export function targetsAmong(pods: readonly ServedPod[]): Target[] {
  const targets = new Map<string, Target>();
  for (const { metadata } of pods) {
    const { namespace, name, labels } = metadata;
    const key = `${namespace}/${labels?.app}`;
    if (targets.has(key)) continue;
    const selector = encodeURIComponent(`app=${labels?.app}`);
    targets.set(key, { NAMESPACE: namespace, POD: name, SELECTOR: selector });
  }
  return [...targets.values()];
}

/** Replaces the placeholders in capitals with names in the cluster. */
export function pathFor(path: string, target: Target): string {
  return path.replace(/NAMESPACE|SELECTOR|POD/g, (word) => target[word as keyof Target]);
}
