import { type StatefulObject, StatusWriter } from '#lib/control/status-writer.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { InformedKind } from '#lib/kubernetes/informer/shared-informers.ts';
import type { KubernetesObject, ObjectName } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';
import {
  CRON_HPA_KIND,
  CRON_HPAS,
  type CronHpa,
  type CronHpaStatus,
  FIELD_MANAGER,
  formatStatus,
  readCronHpa,
} from './cron-hpa.ts';

/** A kind of objects with jobs: what differs between the kinds that the controller runs. */
export interface CronHpaKind {
  /** The name of its controller in logs and series. */
  readonly controller: string;
  readonly resource: ApiResource;
  readonly informed: InformedKind<CronHpa>;
  /** @returns as {@link readCronHpa} */
  read(value: unknown): CronHpa | undefined;
  openStatuses(objects: ResourceClient<KubernetesObject>, clock: Clock): StatusClient;
}

/** CronHorizontalPodAutoscalers of this project and of TKE. */
export const STKE_CRON_HPA: CronHpaKind = {
  controller: 'cronhpa',
  resource: CRON_HPAS,
  informed: CRON_HPA_KIND,
  read: readCronHpa,
  openStatuses: statusClient,
};

/** Reads and writes statuses at the API server, bypassing the informer. */
export interface StatusClient {
  /** @returns `undefined` when the object does not exist or is malformed */
  get(name: ObjectName, signal: AbortSignal): Promise<CronHpa | undefined>;
  /**
   * Writes a status if it differs from the current one of the object.
   *
   * @returns the written object, `undefined` when nothing was written
   * @throws a conflict when the object changed after it was read
   */
  write(object: CronHpa, status: CronHpaStatus, signal: AbortSignal): Promise<CronHpa | undefined>;
}

/** A client that writes a status only over the version it was computed from, so results of another leader are not lost. */
export function statusClient(objects: ResourceClient<KubernetesObject>, clock: Clock): StatusClient {
  const writer = new StatusWriter<object, StatefulObject<object>>({
    client: objects as ResourceClient<StatefulObject<object>>,
    fieldManager: FIELD_MANAGER,
    clock,
  });
  return {
    async get(name, signal) {
      const value = await objects.find(name, { signal });
      return value && readCronHpa(value);
    },
    async write({ namespace, name, uid, resourceVersion, status: current }, status, signal) {
      const metadata = { namespace, name, uid, resourceVersion };
      const isFirst = current.jobs.length === 0 && current.ready === undefined;
      const before = { metadata, ...(!isFirst && { status: formatStatus(current) }) };
      const after = await writer.applyOver(before, formatStatus(status), { signal });
      return after === before ? undefined : readCronHpa(after);
    },
  };
}
