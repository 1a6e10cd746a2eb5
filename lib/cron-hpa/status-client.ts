import { isDeepStrictEqual } from 'node:util';
import { isConflict } from '#lib/kubernetes/client/api-error.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { KubernetesObject, ObjectName } from '#lib/kubernetes/kubernetes-object.ts';
import type { CronHpa, CronHpaStatus } from './cron-hpa.ts';
import { formatStatus, readCronHpa } from './read-cron-hpa.ts';
import { FIELD_MANAGER } from './set-size.ts';

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

const MOST_CONFLICTS = 5;

/** Statuses, written by server-side apply, and only as long as the object is as it was read. */
export function statusClient(objects: ResourceClient<KubernetesObject>): StatusClient {
  return {
    async get(name, signal) {
      const value = await objects.find(name, { signal });
      return value && readCronHpa(value);
    },
    async write(object, status, signal) {
      const body = asSent(status);
      if (isDeepStrictEqual(body, asSent(object.status))) return undefined;
      const options = { subresource: 'status', fieldManager: FIELD_MANAGER, force: true, signal } as const;
      let { resourceVersion } = object;
      for (let conflicts = 0; ; conflicts++) {
        try {
          const metadata = { ...nameAndUid(object), resourceVersion };
          return readCronHpa(await objects.apply({ metadata, status: body }, options));
        } catch (error) {
          const latest = isConflict(error) && conflicts < MOST_CONFLICTS && (await this.get(object, signal));
          if (!latest || !isDeepStrictEqual(latest.status, object.status)) throw error;
          ({ resourceVersion } = latest); // something else of it was changed: what was carried out is carried out
        }
      }
    },
  };
}

function nameAndUid({ namespace, name, uid }: CronHpa) {
  return { namespace, name, uid };
}

/** Without what is absent. */
function asSent(status: CronHpaStatus): object {
  return JSON.parse(JSON.stringify(formatStatus(status))) as object;
}
