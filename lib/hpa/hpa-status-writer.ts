import { isConflict } from '#lib/kubernetes/client/api-error.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { type HpaStatus, isSameStatus } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { type Hpa, type HpaVersion, readHpa, sentHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { FIELD_MANAGER, type OtherControllers } from './external-controllers.ts';

/** What statuses are written with. */
interface StatusClientOptions {
  readonly hpas: ResourceClient;
  readonly version: HpaVersion;
  readonly others: OtherControllers;
}

const MOST_CONFLICTS = 5;

/** Writes statuses of HPAs, by updates of the status subresource. */
export class StatusClient {
  readonly #options: StatusClientOptions;
  /** As they were written last, while the informer may still show what was there before. */
  readonly #written = new Map<string, Hpa>();

  constructor(options: StatusClientOptions) {
    this.#options = options;
  }

  /** What is there now, as far as anybody here can tell. */
  latest(key: string, seen: Hpa | undefined): Hpa | undefined {
    const written = this.#written.get(key);
    if (!written || !seen || written.metadata.uid !== seen.metadata.uid) {
      this.#written.delete(key);
      return seen;
    }
    // All of it: a status is sent with the metadata of its HPA, which the API server takes for a change of them.
    if (Number(seen.metadata.resourceVersion) < Number(written.metadata.resourceVersion)) return written;
    this.#written.delete(key);
    return seen;
  }

  /**
   * Writes a status unless it means what is there. Other changes of the HPA are no obstacle; one of its status is.
   *
   * @throws an ApiError: a conflict where somebody else has changed the status
   */
  async write(hpa: Hpa, status: HpaStatus, signal: AbortSignal): Promise<void> {
    if (isSameStatus(hpa.status, status)) return;
    const { hpas, version, others } = this.#options;
    const { namespace, name, uid } = hpa.metadata;
    const key = `${namespace}/${name}`;
    const options = { subresource: 'status', fieldManager: FIELD_MANAGER, signal } as const;
    let base = hpa;
    for (let conflicts = 0; ; conflicts++) {
      try {
        others.sending(key, status);
        const written = await hpas.update(sentHpa(base, status, version), options);
        this.#written.set(key, readHpa(written, version));
        return;
      } catch (error) {
        if (!isConflict(error) || conflicts >= MOST_CONFLICTS) throw error;
        base = readHpa(await hpas.get({ namespace, name }, { signal }), version);
        const isOurs = base.metadata.uid === uid && isSameStatus(hpa.status, base.status ?? UNWRITTEN);
        if (!isOurs) throw error;
      }
    }
  }
}

const UNWRITTEN: HpaStatus = { desiredReplicas: 0 };
