import type { ScaleTarget } from '#lib/control/scale-client.ts';
import type { SharedInformer, SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { type CachedWorkload, WORKLOADS, type Workload } from '#lib/kubernetes/objects/workload.ts';

/** Where objects are cached. */
export interface InformerScope {
  readonly informers: Pick<SharedInformers, 'get'>;
  /** Everywhere if there are none. */
  readonly namespaces: readonly string[];
}

const { Deployment, StatefulSet } = WORKLOADS;
const KINDS = { Deployment, StatefulSet };

/** Deployments and StatefulSets, which most targets are: their replicas are known without asking. */
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
}

/** Whether a target is one whose containers are known. */
export function isWorkload({ apiVersion, kind }: ScaleTarget): boolean {
  return apiVersion === 'apps/v1' && Object.hasOwn(KINDS, kind);
}

/** What {@link Workloads.onChange} calls a target. */
export function targetName({ kind, namespace, name }: ScaleTarget): string {
  return `${kind} ${namespace}/${name}`;
}
