import { isDeepStrictEqual } from 'node:util';
import { appliedFields } from '#lib/control/status/applied-fields.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { KubernetesObject, ObjectName } from '#lib/kubernetes/kubernetes-object.ts';
import { FIELD_MANAGER } from '../objects/resources.ts';
import type { WantedHpa } from './wanted-hpa.ts';

/** An HPA, as far as ScaledObjects need it. */
export interface ManagedHpa extends KubernetesObject {
  readonly spec?: {
    readonly scaleTargetRef?: {
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly name?: string;
    };
  };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

/** What was written last, or found as it is to be, and of which version of the HPA. */
interface Written {
  readonly text: string;
  readonly resourceVersion: string | undefined;
}

/** Makes HPAs and keeps them in step, by server-side apply; writes nothing where nothing of ours is different. */
export class HpaClient {
  readonly #client: ResourceClient<ManagedHpa>;
  readonly #written = new Map<string, Written>();

  constructor(client: ResourceClient<ManagedHpa>) {
    this.#client = client;
  }

  /**
   * Has an HPA be what is wanted.
   *
   * @param found as it is, as far as is known
   * @returns the HPA as it is now
   */
  async apply(wanted: WantedHpa, found: ManagedHpa | undefined, signal: AbortSignal): Promise<ManagedHpa> {
    const key = `${wanted.metadata.namespace}/${wanted.metadata.name}`;
    const text = JSON.stringify(wanted);
    if (found && this.#isInStep(wanted, found, this.#written.get(key), text)) {
      this.#written.set(key, { text, resourceVersion: found.metadata.resourceVersion });
      return found;
    }
    const applied = await this.#client.apply(
      { ...wanted },
      { fieldManager: FIELD_MANAGER, force: true, signal },
    );
    this.#written.set(key, { text, resourceVersion: applied.metadata.resourceVersion });
    return applied;
  }

  async find(name: ObjectName, signal: AbortSignal): Promise<ManagedHpa | undefined> {
    return await this.#client.find(name, { signal });
  }

  /** Deletes an HPA, if it is this very one and still there. */
  async delete(hpa: ManagedHpa, signal: AbortSignal): Promise<void> {
    const { namespace = '', name, uid } = hpa.metadata;
    this.#written.delete(`${namespace}/${name}`);
    await this.#client.delete({ namespace, name }, { signal, ...(uid && { preconditions: { uid } }) });
  }

  #isInStep(wanted: WantedHpa, found: ManagedHpa, written: Written | undefined, text: string): boolean {
    if (written?.text === text && written.resourceVersion === found.metadata.resourceVersion) return true;
    const { labels, annotations = {} } = wanted.metadata;
    const fields = (appliedFields(found, FIELD_MANAGER) ?? {}) as {
      metadata?: { labels?: object; annotations?: object; ownerReferences?: readonly object[] };
      spec?: object;
    };
    return (
      isDeepStrictEqual(fields.metadata?.labels ?? {}, labels) &&
      isDeepStrictEqual(fields.metadata?.annotations ?? {}, annotations) &&
      isDeepStrictEqual(fields.metadata?.ownerReferences ?? [], wanted.metadata.ownerReferences) &&
      isDeepStrictEqual(fields.spec, wanted.spec)
    );
  }
}
