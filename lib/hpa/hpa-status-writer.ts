import { MutationCache } from '#lib/control/mutation-cache.ts';
import { StatusWriter } from '#lib/control/status-writer.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { type HpaStatus, isSameStatus } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { type Hpa, readHpa, sentHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';
import { FIELD_MANAGER, type OtherControllers } from './external-controllers.ts';

/** What statuses are written with. */
interface StatusClientOptions {
  readonly hpas: ResourceClient<Hpa>;
  readonly others: OtherControllers;
  readonly clock: Clock;
}

/** Writes statuses of HPAs, by updates of the status subresource. */
export class StatusClient {
  readonly #writer: StatusWriter<HpaStatus, Hpa>;
  readonly #others: OtherControllers;
  /** All of each: a status is sent with the metadata of its HPA, which the API server takes for a change of them. */
  readonly #written = new MutationCache<Hpa>(({ metadata }) => metadata);

  constructor({ hpas: client, others, clock }: StatusClientOptions) {
    const isSame = (one: HpaStatus | undefined, other = UNWRITTEN) => isSameStatus(one, other);
    this.#writer = new StatusWriter({ client, fieldManager: FIELD_MANAGER, clock, isSame });
    this.#others = others;
  }

  /** What is there now, as far as anybody here can tell. */
  latest(key: string, seen: Hpa | undefined): Hpa | undefined {
    return this.#written.latest(key, seen);
  }

  /**
   * Writes a status unless it means what is there. Other changes of the HPA are no obstacle; one of its status is.
   *
   * @throws an ApiError: a conflict where somebody else has changed the status
   */
  async write(hpa: Hpa, status: HpaStatus, signal: AbortSignal): Promise<void> {
    if (isSameStatus(hpa.status, status)) return;
    const key = keyOf(hpa.metadata);
    this.#others.sending(key, status);
    this.#written.record(key, await this.#writer.update(hpa, status, { signal }));
  }
}

/** The status of an HPA that was never reconciled. */
const UNWRITTEN: HpaStatus = { desiredReplicas: 0 };

/** Reads and writes HPAs in the version in which they are served. */
export function hpaResourceClient(api: ApiClient, resource: ApiResource): ResourceClient<Hpa> {
  const { version } = resource;
  return new ResourceClient<Hpa>({
    api,
    resource,
    read: (value) => readHpa(value, version),
    format: (hpa) => sentHpa(hpa, hpa.status ?? UNWRITTEN, version),
  });
}
