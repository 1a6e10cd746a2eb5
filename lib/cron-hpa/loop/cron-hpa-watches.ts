import { isDeepStrictEqual } from 'node:util';
import { clockSteps } from '#lib/control/clock-steps.ts';
import { mapKeys, type Watched } from '#lib/control/controller.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type CronHpa, nameOf } from '../objects/cron-hpa.ts';
import type { Hpa } from '../objects/hpa.ts';
import { targetKey } from '../objects/same-target.ts';
import type { ObjectSource, ObjectSourceChange } from './object-source.ts';

/** Finds what is about a target, by its key. */
export type ByTarget<T> = (target: string) => readonly T[];

/** What {@link cronHpaWatches} follows. */
export interface WatchedSources {
  readonly cronHpas: ObjectSource<CronHpa> & { keys(): Iterable<string> };
  readonly hpas: ObjectSource<Hpa>;
  readonly cronHpasByTarget: ByTarget<CronHpa>;
  readonly clock: Clock;
}

/** What has CronHorizontalPodAutoscalers reconciled: their changes, those of others on the same target, and the clock's. */
export function cronHpaWatches({
  cronHpas,
  hpas,
  cronHpasByTarget,
  clock,
}: WatchedSources): readonly Watched[] {
  const onTargets = (targets: Iterable<string>) => {
    const keys = new Set<string>();
    for (const target of targets) for (const one of cronHpasByTarget(target)) keys.add(nameOf(one));
    return keys;
  };
  return [
    mapKeys(cronHpas, (change) => [change.key, ...onTargets(targetsChanged(change, targetsOfCronHpa))]),
    mapKeys(hpas, (change) =>
      onTargets(targetsChanged(change, targetsOfHpa, ({ controller }) => controller)),
    ),
    clockSteps(clock, () => cronHpas.keys()),
  ];
}

/** What an object scales, by which it is found. */
export function targetsOfCronHpa({ namespace, spec, problem }: CronHpa): readonly string[] {
  return problem !== undefined ? [] : [targetKey(namespace, spec.scaleTargetRef)];
}

/** What an HPA scales, and itself. */
export function targetsOfHpa({ namespace, name, scaleTargetRef }: Hpa): readonly string[] {
  const { apiVersion = '', ...target } = scaleTargetRef;
  return [
    targetKey(namespace, { apiVersion, ...target }),
    targetKey(namespace, { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', name }),
  ];
}

/** The targets of an object that has come, has gone, or has turned to another target or owner. */
function targetsChanged<T>(
  { previous, current }: ObjectSourceChange<T>,
  targetsOf: (object: T) => readonly string[],
  ownerOf: (object: T) => unknown = () => undefined,
): ReadonlySet<string> {
  const before = previous ? targetsOf(previous) : [];
  const now = current ? targetsOf(current) : [];
  const factsOf = (object: T | undefined) => object && [targetsOf(object), ownerOf(object)];
  const isSame = isDeepStrictEqual(factsOf(previous), factsOf(current));
  return new Set(isSame ? [] : [...before, ...now]);
}
