import { debugEndpoint } from '#lib/apiserver/debug-endpoint.ts';
import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import { badRequest, notFound } from '#lib/apiserver/http/status-error.ts';
import { CRON_HPA, type CronHpa } from '../cron-hpa.ts';
import type { PlanOptions } from '../planned-jobs.ts';
import type { OtherScalers } from '../target-conflicts.ts';
import { describeCronHpa } from './describe-cron-hpa.ts';

/** What is known of objects here. */
export interface DebuggedCronHpas {
  values(): Iterable<CronHpa>;
  find(namespace: string, name: string): CronHpa | undefined;
  /** Who else scales the target of an object. */
  others(object: CronHpa): OtherScalers;
  /** As of now. */
  planOptions(): PlanOptions;
}

/** Of so many objects something is told unless `limit` says otherwise. */
const DEFAULT_LIMIT = 1000;

/**
 * `/debug/cronhpas?namespace=&name=`: what jobs objects have, when they are next due, how they went, what they move and why. All
 * replicas tell the same, from the objects alone. Without a name all objects in short, those first that are not ready; `limit` cuts
 * the list.
 */
export function debugCronHpas(known: DebuggedCronHpas): Endpoint {
  return debugEndpoint(['namespace', 'name', 'limit'], (query) => {
    const [namespace, name] = [query.get('namespace') ?? '', query.get('name') ?? ''];
    if (name !== '' && namespace === '') throw badRequest('a name needs a namespace');
    if (name !== '') return inFull(known, namespace, name);
    return inShort(known, namespace, limitOf(query.get('limit')));
  });
}

function inFull(known: DebuggedCronHpas, namespace: string, name: string) {
  const object = known.find(namespace, name);
  if (!object) throw notFound({ group: CRON_HPA.group, resource: CRON_HPA.plural }, `${namespace}/${name}`);
  return describeCronHpa(object, { ...known.planOptions(), ...known.others(object) });
}

/** From statuses alone: planning the jobs of ten thousand objects would keep others waiting. */
function inShort(known: DebuggedCronHpas, namespace: string, limit: number) {
  const objects = [...known.values()].filter((object) => namespace === '' || object.namespace === namespace);
  const isReady = ({ status }: CronHpa) => status.ready?.status === 'True';
  const inOrder = [...objects.filter((object) => !isReady(object)), ...objects.filter(isReady)];
  return {
    total: objects.length,
    ready: objects.filter(isReady).length,
    items: inOrder.slice(0, limit).map(({ namespace, name, spec, status }) => ({
      namespace,
      name,
      target: `${spec.scaleTargetRef.kind} ${spec.scaleTargetRef.name}`,
      jobs: spec.jobs.length,
      nextScheduleTime: status.nextScheduleTime,
      lastResult: status.lastResult,
      ready: status.ready?.status ?? 'Unknown',
      reason: status.ready?.reason,
      message: status.ready?.message,
    })),
  };
}

function limitOf(text: string | null): number {
  if (text === null) return DEFAULT_LIMIT;
  if (!/^\d{1,6}$/.test(text)) throw badRequest('limit must be a whole number');
  return Number(text);
}
