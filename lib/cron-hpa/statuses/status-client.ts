import { type StatefulObject, StatusWriter } from '#lib/control/status-writer.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { KubernetesObject, ObjectName } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { CronHpa, CronHpaStatus } from '../objects/cron-hpa.ts';
import { FIELD_MANAGER } from '../objects/followed-resources.ts';
import { formatStatus, readCronHpa } from '../objects/read-cron-hpa.ts';

/** Reads and writes what counts: objects with their status, as the API server has them now. */
export interface StatusClient {
  /** `undefined` where there is none, or none that its schema allows. */
  get(name: ObjectName, signal: AbortSignal): Promise<CronHpa | undefined>;
  /**
   * Writes a status if it differs from that of the object.
   *
   * @returns the object as it is now, if anything was written
   * @throws a conflict where the object has changed since it was read
   */
  write(object: CronHpa, status: CronHpaStatus, signal: AbortSignal): Promise<CronHpa | undefined>;
}

/** Statuses, written over those alone that they follow from: what was carried out by another leader must not be lost. */
export function statusClient(objects: ResourceClient<KubernetesObject>): StatusClient {
  const writer = new StatusWriter<object, StatefulObject<object>>({
    client: objects as ResourceClient<StatefulObject<object>>,
    fieldManager: FIELD_MANAGER,
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
      const after = await writer.writeOver(before, formatStatus(status), signal);
      return after === before ? undefined : readCronHpa(after);
    },
  };
}
