import { isDeepStrictEqual } from 'node:util';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { appliedFields } from '#lib/kubernetes/objects/managed-fields.ts';
import type { ManagedHpa } from '../api/informers.ts';
import { FIELD_MANAGER } from '../api/resources.ts';
import type { DesiredHpa } from './desired-hpa.ts';

/** The last applied or verified fields, and the resource version of the HPA. */
export interface WrittenHpa {
  readonly text: string;
  readonly resourceVersion: string | undefined;
}

interface AppliedHpa {
  readonly hpa: ManagedHpa;
  readonly written: WrittenHpa;
}

/** Applies HPAs by server-side apply, and writes only if a field of this manager differs. */
export class HpaClient {
  readonly #client: ResourceClient<ManagedHpa>;

  constructor(client: ResourceClient<ManagedHpa>) {
    this.#client = client;
  }

  /**
   * Creates or updates an HPA.
   *
   * @param cached `found`: the HPA in the informer's cache; `written`: the result of the last call
   */
  async apply(
    desired: DesiredHpa,
    { found, written }: { readonly found: ManagedHpa | undefined; readonly written: WrittenHpa | undefined },
    signal: AbortSignal,
  ): Promise<AppliedHpa> {
    const text = JSON.stringify(desired);
    if (found && this.#isUpToDate(desired, found, written, text))
      return { hpa: found, written: { text, resourceVersion: found.metadata.resourceVersion } };
    const hpa = await this.#client.apply(
      { ...desired },
      { fieldManager: FIELD_MANAGER, force: true, signal },
    );
    return { hpa, written: { text, resourceVersion: hpa.metadata.resourceVersion } };
  }

  /** Deletes an HPA if it still has the same UID. @throws {ApiError} 404 or 409 otherwise */
  async delete(hpa: ManagedHpa, signal: AbortSignal): Promise<void> {
    const { namespace = '', name, uid } = hpa.metadata;
    await this.#client.delete({ namespace, name }, { signal, ...(uid && { preconditions: { uid } }) });
  }

  #isUpToDate(
    intended: DesiredHpa,
    found: ManagedHpa,
    written: WrittenHpa | undefined,
    text: string,
  ): boolean {
    if (written?.text === text && written.resourceVersion === found.metadata.resourceVersion) return true;
    const { labels, annotations = {} } = intended.metadata;
    const fields = (appliedFields(found, FIELD_MANAGER) ?? {}) as {
      metadata?: { labels?: object; annotations?: object; ownerReferences?: readonly object[] };
      spec?: object;
    };
    return (
      isDeepStrictEqual(fields.metadata?.labels ?? {}, labels) &&
      isDeepStrictEqual(fields.metadata?.annotations ?? {}, annotations) &&
      isDeepStrictEqual(fields.metadata?.ownerReferences ?? [], intended.metadata.ownerReferences) &&
      isDeepStrictEqual(fields.spec, intended.spec)
    );
  }
}
