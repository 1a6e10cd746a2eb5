import { type Observed, setCondition } from '#lib/control/conditions.ts';
import { MutationCache } from '#lib/control/mutation-cache.ts';
import { StatusWriter } from '#lib/control/status-writer.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { SharedInformer } from '#lib/kubernetes/informer/shared-informers.ts';
import {
  type HpaCondition,
  type HpaStatus,
  isSameStatus,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { type Hpa, readHpa, sentHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { keyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type ExternalControllers, FIELD_MANAGER } from './external-controllers.ts';

interface HpaStatusWriterOptions {
  readonly hpas: ResourceClient<Hpa>;
  readonly others: ExternalControllers;
  readonly clock: Clock;
}

/** Writes statuses of HPAs by updating the status subresource. */
export class HpaStatusWriter {
  readonly #client: ResourceClient<Hpa>;
  readonly #clock: Clock;
  readonly #writer: StatusWriter<HpaStatus, Hpa>;
  readonly #others: ExternalControllers;
  /** Whole metadata: the API server would treat missing metadata in an update of the status as a change. */
  readonly #written = new MutationCache<Hpa>(({ metadata }) => metadata);

  constructor({ hpas: client, others, clock }: HpaStatusWriterOptions) {
    this.#client = client;
    this.#clock = clock;
    const isSame = (one: HpaStatus | undefined, other = UNWRITTEN) => isSameStatus(one, other);
    this.#writer = new StatusWriter({ client, fieldManager: FIELD_MANAGER, clock, isSame });
    this.#others = others;
  }

  /** The HPA as last written by this process, or as observed if that is newer. */
  latest(key: string, observed: Hpa | undefined): Hpa | undefined {
    return this.#written.latest(key, observed);
  }

  /**
   * Writes a status that differs from the current one. Other changes of the HPA do not conflict; a changed status does.
   *
   * @throws {ApiError} a conflict when another client has changed the status
   */
  async write(hpa: Hpa, status: HpaStatus, signal: AbortSignal): Promise<void> {
    if (isSameStatus(hpa.status, status)) return;
    const key = keyOf(hpa.metadata);
    this.#others.sending(key, status);
    this.#written.record(key, await this.#writer.update(hpa, status, { signal }));
  }

  /**
   * Sets a condition of an HPA of which only parts may be cached: the whole HPA is read first.
   *
   * @throws {ApiError} a conflict when another client has changed the status
   */
  async setCondition(
    { metadata, isReduced }: Hpa,
    condition: Observed<HpaCondition>,
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace, name, uid } = metadata;
    const whole = await this.#client.find({ namespace, name }, { signal });
    if (whole?.metadata.uid !== uid) return;
    const before = whole.status ?? UNWRITTEN;
    const conditions = setCondition(before.conditions ?? [], condition, this.#clock.nowMs());
    const status = { ...before, conditions };
    if (!isReduced) this.#others.sending(keyOf(metadata), status);
    await this.#writer.update(whole, status, { signal });
  }
}

/** The status of an HPA that was never reconciled. */
const UNWRITTEN: HpaStatus = { desiredReplicas: 0 };

/** A client of HPAs in the version that is served at each request. */
export function hpaResourceClient(
  api: ApiClient,
  hpas: Pick<SharedInformer<Hpa>, 'served'>,
): ResourceClient<Hpa> {
  return new ResourceClient<Hpa>({
    api,
    resource: (signal) => hpas.served(signal),
    read: readHpa,
    format: (hpa, version) => sentHpa(hpa, hpa.status ?? UNWRITTEN, version),
  });
}
