import { ExpiringCache } from '#lib/cache/expiring-cache.ts';
import { type ChangeSource, type Controller, DONE, mapKeys } from '#lib/control/controller.ts';
import type { ScaleLog } from '#lib/control/scale-log.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { ObjectChange } from '#lib/kubernetes/informer/object-store.ts';
import type { SharedInformer } from '#lib/kubernetes/informer/shared-informers.ts';
import type { Clock } from '#lib/time/clock.ts';
import { adjustmentOf, type CronHpa, nameOf } from './cron-hpa.ts';
import { type HpaClient, patchHpa, restoredBounds } from './hpa-bounds.ts';
import { type Hpa, hasOwner, readHpa, targetsOfCronHpa, targetsOfHpa } from './target-conflicts.ts';

interface RestoreDependencies {
  readonly hpas: ChangeSource<ObjectChange<Hpa>> & Pick<SharedInformer<Hpa>, 'find'>;
  /** Objects of each kind. */
  readonly cronHpas: readonly ChangeSource<ObjectChange<CronHpa>>[];
  readonly hpasByTarget: (target: string) => readonly Hpa[];
  readonly cronHpasByTarget: (target: string) => readonly CronHpa[];
  /** Lists the objects of a namespace at the API server; `undefined` for one that is malformed. */
  readonly listCronHpas: (
    namespace: string,
    signal: AbortSignal,
  ) => Promise<readonly (CronHpa | undefined)[]>;
  readonly hpaClient: HpaClient;
  readonly scaleLog: Pick<ScaleLog, 'minReplicasChanged'>;
  readonly clock: Clock;
}

/** The targets of invalid objects are unknown: they are listed again after this time. */
const RECHECK_MS = 300_000;

/**
 * How long a list of objects is used for all HPAs of its namespace. Any tenant can write the annotations of an HPA, and
 * must not cause a list of thousands of objects by each write.
 */
const LIST_LIFETIME_MS = 10_000;
const MAX_LISTED_NAMESPACES = 100;

/** The targets of the objects of a namespace, `undefined` when some are unknown. */
interface UsedTargets {
  readonly targets: ReadonlySet<string> | undefined;
}

/**
 * Restores the bounds of HPAs that jobs have changed, once no object has the target of the HPA, or those that have it may
 * not change HPAs. It needs no finalizer: the HPA itself records what was changed.
 */
export function restoreController(dependencies: RestoreDependencies): Controller {
  const { hpas, cronHpas, hpasByTarget, cronHpasByTarget, listCronHpas } = dependencies;
  const { hpaClient, scaleLog, clock } = dependencies;
  const lists = new ExpiringCache<UsedTargets>({ clock, maxEntries: MAX_LISTED_NAMESPACES });
  const listTargets = (namespace: string, signal: AbortSignal) =>
    lists.getOrCompute(namespace, {
      compute: async (unused) => usedTargets(await listCronHpas(namespace, unused)),
      lifetimeMs: () => LIST_LIFETIME_MS,
      signal: () => signal,
    });
  return {
    name: 'cronhpa-restore',
    watches: [
      mapKeys(hpas, ({ key, current }) => (current && isChanged(current) ? [key] : [])),
      ...cronHpas.map((objects) => ({
        ...mapKeys(objects, ({ previous, current }) =>
          [previous, current]
            .flatMap((object) => (object ? targetsOfCronHpa(object) : []))
            .flatMap((target) => hpasByTarget(target).filter(isChanged).map(nameOf)),
        ),
        synced: async () => {}, // their kind may never be served, and they are listed before an HPA is restored
      })),
    ],
    async reconcile(key, signal) {
      const cached = hpas.find(key);
      if (!cached || !isChanged(cached)) return DONE;
      const isUsed = targetsOfHpa(cached).some((target) => cronHpasByTarget(target).some(mayChangeHpas));
      if (isUsed) return DONE;
      // The informer may not have the object yet whose job has changed the HPA.
      const { targets: used } = await listTargets(cached.namespace, signal);
      if (!used) return { requeueAfterMs: RECHECK_MS };
      // The list may be older than the deletion that caused this reconciliation.
      if (targetsOfHpa(cached).some((target) => used.has(target)))
        return { requeueAfterMs: LIST_LIFETIME_MS };
      const reread = async () => {
        const hpa = await readLatest(cached, hpaClient, signal);
        return hpa && !targetsOfHpa(hpa).some((target) => used.has(target)) ? hpa : undefined;
      };
      const hpa = await reread();
      if (!hpa || hasOwner(hpa)) return DONE;
      const cause = { by: 'cronhpa', why: 'no job sets it any more' };
      await patchHpa(hpa, restoredBounds, { hpaClient, scaleLog, cause, clock, signal, reread });
      return DONE;
    },
  };
}

function usedTargets(listed: readonly (CronHpa | undefined)[]): UsedTargets {
  if (listed.some((object) => !object || object.problem !== undefined)) return { targets: undefined };
  const using = listed.filter((object) => object !== undefined).filter(mayChangeHpas);
  return { targets: new Set(using.flatMap(targetsOfCronHpa)) };
}

function isChanged(hpa: Hpa): boolean {
  return Object.keys(hpa.annotations).length > 0;
}

function mayChangeHpas(object: CronHpa): boolean {
  return !object.isBeingDeleted && adjustmentOf(object) !== 'false';
}

/** @returns `undefined` for an HPA that was deleted, or is malformed */
async function readLatest(hpa: Hpa, hpaClient: HpaClient, signal: AbortSignal): Promise<Hpa | undefined> {
  try {
    return readHpa(await hpaClient.get(hpa, { signal }));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
