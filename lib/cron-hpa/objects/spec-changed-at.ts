import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';

/** What of an object's metadata tells when it was changed, as the API server sent it. */
export interface ChangeTimes {
  readonly generation?: number | undefined;
  readonly creationTimestamp?: string | undefined;
  readonly managedFields?: unknown;
}

/**
 * When an object's spec became what it is, by the API server's clock: when it was last changed by anybody, in whole seconds, but not
 * before the object was created, as in what was restored from a backup.
 *
 * @returns `undefined` where the server does not tell
 */
export function specChangedAt({
  generation,
  creationTimestamp = '',
  managedFields,
}: ChangeTimes): number | undefined {
  const createdAtMs = Date.parse(creationTimestamp);
  const times = (Array.isArray(managedFields) ? managedFields : [])
    .filter((entry) => propertyOf(propertyOf(entry, 'fieldsV1'), 'f:spec') !== undefined)
    .map((entry) => Date.parse(String(propertyOf(entry, 'time'))));
  if (times.length === 0 && generation !== 1) return undefined; // changed since, and nobody knows when
  const changedAtMs = times.reduce((latestMs, ms) => Math.max(latestMs, ms), createdAtMs);
  return Number.isNaN(changedAtMs) ? undefined : changedAtMs;
}
