import type { ScaleTarget } from '#lib/control/scale-client.ts';
import { keyOf, propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { type FollowOptions, NamespacedObjects } from './namespaced-objects.ts';

/** What is kept of a Deployment or StatefulSet. */
export interface Workload {
  readonly replicas: number;
  readonly readyReplicas: number;
  /** Of its containers, what each requests or is limited to. */
  readonly containers: readonly { readonly name: string; readonly resources: readonly string[] }[];
}

const KINDS: Readonly<Record<string, string>> = { Deployment: 'deployments', StatefulSet: 'statefulsets' };

/** Deployments and StatefulSets, which most targets are: their replicas are known without asking. */
export class Workloads implements AsyncDisposable {
  readonly #kinds: ReadonlyMap<string, NamespacedObjects<Workload>>;

  constructor(options: FollowOptions) {
    this.#kinds = new Map(
      Object.entries(KINDS).map(([kind, plural]) => {
        const resource = { group: 'apps', version: 'v1', kind, plural, namespaced: true };
        return [kind, new NamespacedObjects({ resource, transform: workloadOf }, options)];
      }),
    );
  }

  start(): void {
    for (const one of this.#kinds.values()) one.start();
  }

  get isSynced(): boolean {
    return this.#kinds.values().every((one) => one.isSynced);
  }

  /** What is known of a target that is followed; `undefined` where there is none. */
  find(target: ScaleTarget): Workload | undefined {
    if (!isWorkload(target)) return undefined;
    return this.#kinds.get(target.kind)?.find(keyOf(target));
  }

  /** Tells of targets that have come, gone or changed, as `KIND NAMESPACE/NAME`. */
  onChange(listener: (target: string) => void, options: { readonly replay: boolean }): () => void {
    const leave = [...this.#kinds].map(([kind, objects]) =>
      objects.onChange(({ key }) => listener(`${kind} ${key}`), options),
    );
    return () => {
      for (const end of leave) end();
    };
  }

  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#kinds.values().map((one) => one.synced(signal)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#kinds.values().map((one) => one[Symbol.asyncDispose]()));
  }
}

/** Whether a target is one whose containers are known. */
export function isWorkload({ apiVersion, kind }: ScaleTarget): boolean {
  return apiVersion === 'apps/v1' && Object.hasOwn(KINDS, kind);
}

/** What {@link Workloads.onChange} calls a target. */
export function targetName({ kind, namespace, name }: ScaleTarget): string {
  return `${kind} ${namespace}/${name}`;
}

/** Takes what is kept of a workload. */
export function workloadOf(value: unknown): Workload {
  const spec = propertyOf(value, 'spec');
  const replicas = propertyOf(spec, 'replicas');
  const ready = propertyOf(propertyOf(value, 'status'), 'readyReplicas');
  const containers = propertyOf(propertyOf(propertyOf(spec, 'template'), 'spec'), 'containers');
  return {
    replicas: typeof replicas === 'number' ? replicas : 1,
    readyReplicas: typeof ready === 'number' ? ready : 0,
    containers: (Array.isArray(containers) ? containers : []).map((container) => ({
      name: String(propertyOf(container, 'name') ?? ''),
      resources: ['requests', 'limits'].flatMap((kind) =>
        amountsIn(propertyOf(propertyOf(container, 'resources'), kind)),
      ),
    })),
  };
}

/** Names of resources of which there is more than nothing. */
function amountsIn(resources: unknown): readonly string[] {
  return Object.entries(resources ?? {})
    .filter(([, amount]) => /[1-9]/.test(String(amount)))
    .map(([name]) => name);
}
