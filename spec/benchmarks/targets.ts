import type { SimulatedSystem } from '#spec/support/simulated-system.ts';

/** What to ask for: a pod, its namespace, and a selector of it and its likes. */
export interface Target {
  readonly NAMESPACE: string;
  readonly POD: string;
  readonly SELECTOR: string;
}

/** What is read of a PodMetrics. */
export interface ServedPod {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly labels?: { readonly app?: string };
  };
}

/**
 * One target for each app that has metrics, in the order of the list.
 *
 * @throws Error where there is none
 */
export async function findTargets({ kubectl }: SimulatedSystem): Promise<[Target, ...Target[]]> {
  const { stdout } = await kubectl.run(['get', '--raw', '/apis/metrics.k8s.io/v1beta1/pods']);
  const [first, ...others] = targetsAmong((JSON.parse(stdout) as { items: ServedPod[] }).items);
  if (first === undefined) throw new Error('Cannot measure requests: no pod has metrics');
  return [first, ...others];
}

/** The first pod of each app of each namespace stands for its likes. */
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

/** A path in which capitals stand for what the cluster really has. */
export function pathFor(path: string, target: Target): string {
  return path.replace(/NAMESPACE|SELECTOR|POD/g, (word) => target[word as keyof Target]);
}
