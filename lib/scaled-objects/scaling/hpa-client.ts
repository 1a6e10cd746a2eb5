import { isDeepStrictEqual } from 'node:util';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { appliedFields } from '#lib/kubernetes/objects/managed-fields.ts';
import type { ManagedHpa } from '../api/informers.ts';
import { FIELD_MANAGER } from '../api/resources.ts';
import type { DesiredHpa } from './desired-hpa.ts';

/** What was written last, or found as it is to be, and of which version of the HPA. */
export interface WrittenHpa {
  readonly text: string;
  readonly resourceVersion: string | undefined;
}

/** An HPA as it is now, and what was written of it. */
interface AppliedHpa {
  readonly hpa: ManagedHpa;
  readonly written: WrittenHpa;
}

/** Makes HPAs and keeps them in step, by server-side apply; writes nothing where nothing of ours is different. */
export class HpaClient {
  readonly #client: ResourceClient<ManagedHpa>;

  constructor(client: ResourceClient<ManagedHpa>) {
    this.#client = client;
  }

  /**
   * Has an HPA be what is wanted.
   *
   * @param known `found` as it is, as far as is known, and what was `written` of it when this was called last
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

  /** Deletes an HPA, if it is this very one and still there. */
  async delete(hpa: ManagedHpa, signal: AbortSignal): Promise<void> {
    const { namespace = '', name, uid } = hpa.metadata;
    await this.#client.delete({ namespace, name }, { signal, ...(uid && { preconditions: { uid } }) });
  }

  #isUpToDate(wanted: DesiredHpa, found: ManagedHpa, written: WrittenHpa | undefined, text: string): boolean {
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
