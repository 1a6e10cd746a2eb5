import { type CronHpa, nameOf, type ScaleTargetRef } from '../cron-hpa.ts';

/** Where the kinds of a group went that Kubernetes has given up. */
const MOVED_GROUPS: ReadonlyMap<string, string> = new Map([['extensions', 'apps']]);

/** What is the same for two references to one object of a namespace, whatever versions they name. */
export function targetKey(namespace: string, { apiVersion, kind, name }: ScaleTargetRef): string {
  const slash = apiVersion.indexOf('/');
  const group = slash === -1 ? '' : apiVersion.slice(0, slash);
  return [namespace, MOVED_GROUPS.get(group) ?? group, kind, name].join('/');
}

/** The first other object, by its name, that scales what an object scales. */
export function rivalOf(object: CronHpa, others: Iterable<CronHpa>): CronHpa | undefined {
  const target = targetKey(object.namespace, object.spec.scaleTargetRef);
  let rival: CronHpa | undefined;
  for (const other of others) {
    if (other.namespace !== object.namespace || other.name === object.name || other.isBeingDeleted) continue;
    if (targetKey(other.namespace, other.spec.scaleTargetRef) !== target) continue;
    if (!rival || nameOf(other) < nameOf(rival)) rival = other;
  }
  return rival;
}
