import type { ScaleTarget } from '#lib/control/scale-client.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { Informer } from '#lib/kubernetes/informer/informer.ts';
import { keyOf } from '#lib/kubernetes/kubernetes-object.ts';
import { propertyOf } from '#lib/kubernetes/object-metadata.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What is kept of a Deployment or StatefulSet. */
export interface Workload {
  readonly replicas: number;
  readonly readyReplicas: number;
  /** Of its containers, what each requests or is limited to. */
  readonly containers: readonly { readonly name: string; readonly resources: readonly string[] }[];
}

const FOLLOWED = ['deployments', 'statefulsets'] as const;
const KINDS: Readonly<Record<string, (typeof FOLLOWED)[number]>> = {
  Deployment: 'deployments',
  StatefulSet: 'statefulsets',
};

/** Deployments and StatefulSets, which most targets are: their replicas are known without asking. */
export class Workloads implements AsyncDisposable {
  readonly #informers: ReadonlyMap<string, Informer<Workload>>;

  constructor(options: { readonly client: ApiClient; readonly clock: Clock; readonly logger: Logger }) {
    this.#informers = new Map(
      FOLLOWED.map((plural) => [
        plural,
        new Informer<Workload>({
          ...options,
          collection: { path: `/apis/apps/v1/${plural}` },
          transform: workloadOf,
        }),
      ]),
    );
  }

  start(): void {
    for (const informer of this.#informers.values()) informer.start();
  }

  get isSynced(): boolean {
    return this.#informers.values().every((informer) => informer.isSynced);
  }

  /** Whether targets of that kind are followed. */
  follows({ apiVersion, kind }: ScaleTarget): boolean {
    return apiVersion === 'apps/v1' && Object.hasOwn(KINDS, kind);
  }

  /** What is known of a target that is followed; `undefined` where there is none. */
  find(target: ScaleTarget): Workload | undefined {
    if (!this.follows(target)) return undefined;
    return this.#informers.get(KINDS[target.kind] ?? '')?.find(keyOf(target));
  }

  /** Tells of targets that have come, gone or changed, as `KIND NAMESPACE/NAME`. */
  onChange(listener: (target: string) => void, options: { readonly replay: boolean }): () => void {
    const leave = Object.entries(KINDS).map(([kind, plural]) =>
      this.#informers.get(plural)?.onChange(({ key }) => listener(`${kind} ${key}`), options),
    );
    return () => {
      for (const end of leave) end?.();
    };
  }

  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#informers.values().map((informer) => informer.synced(signal)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#informers.values().map((informer) => informer[Symbol.asyncDispose]()));
  }
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
