import type { ScaleTarget } from '#lib/control/scale-client.ts';
import type { SharedInformer, SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { type CachedWorkload, WORKLOADS, type Workload } from '#lib/kubernetes/objects/workload.ts';

export interface InformerScope {
  readonly informers: Pick<SharedInformers, 'get'>;
  /** All namespaces if empty. */
  readonly namespaces: readonly string[];
}

const { Deployment, StatefulSet } = WORKLOADS;
const KINDS = { Deployment, StatefulSet };

/** Caches Deployments and StatefulSets, so that their replicas need no request to the scale subresource. */
export class Workloads {
  readonly #kinds: ReadonlyMap<string, SharedInformer<Workload>>;

  constructor({ informers, namespaces }: InformerScope) {
    const use = { needs: { parts: ['workload'] }, view: ({ workload }: CachedWorkload) => workload } as const;
    this.#kinds = new Map(
      Object.entries(KINDS).map(([name, kind]) => [name, informers.get(kind, { ...use, namespaces })]),
    );
  }

  start(): void {
    for (const one of this.#kinds.values()) one.start();
  }

  get isSynced(): boolean {
    return this.#kinds.values().every((one) => one.isSynced);
  }

  /** @returns `undefined` if the target is of another kind or does not exist */
  find(target: ScaleTarget): Workload | undefined {
    if (!isWorkload(target)) return undefined;
    return this.#kinds.get(target.kind)?.find(keyOf(target));
  }

  /** Calls the listener with `KIND NAMESPACE/NAME` of each target that is added, changed or removed. */
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
}

/** Whether the kind of a target is cached. */
export function isWorkload({ apiVersion, kind }: ScaleTarget): boolean {
  return apiVersion === 'apps/v1' && Object.hasOwn(KINDS, kind);
}

/** `KIND NAMESPACE/NAME`, as {@link Workloads.onChange} reports it. */
export function targetName({ kind, namespace, name }: ScaleTarget): string {
  return `${kind} ${namespace}/${name}`;
}
