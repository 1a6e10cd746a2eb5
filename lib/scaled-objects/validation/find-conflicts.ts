import { controllerOf } from '#lib/control/owner-references.ts';
import { requestsOf } from '../api/annotations.ts';
import type { ManagedHpa } from '../api/informers.ts';
import { hpaNameOf, type ScaledObject, targetOf } from '../api/scaled-object.ts';
import { CheckFailure, STEPS } from './check-failure.ts';

const OWNERSHIP = 'validations.keda.sh/hpa-ownership';

/** Who else wants the target of an object, or its HPA. */
export interface Rivals {
  readonly objects: Iterable<ScaledObject>;
  /** Those of the target, and that which has the name of the object's own. */
  readonly hpas: Iterable<ManagedHpa>;
}

/** Checks that nobody else scales the target already. @throws {CheckFailure} */
export function checkRivals(object: ScaledObject, { objects, hpas }: Rivals): void {
  const target = targetOf(object);
  const type = `${target.apiVersion}.${target.kind}`;
  for (const other of objects) {
    if (other.metadata.uid === object.metadata.uid || !isOlder(other, object)) continue;
    const managed = `is already managed by the ScaledObject '${other.metadata.name}'`;
    if (haveOneTarget(object, other))
      throw new CheckFailure(STEPS.target, `the workload '${target.name}' of type '${type}' ${managed}`, {
        rule: 'other-scaled-object',
      });
    if (hpaNameOf(other) === hpaNameOf(object))
      throw new CheckFailure(STEPS.hpa, `the HPA '${hpaNameOf(object)}' ${managed}`, {
        rule: 'other-scaled-object-hpa',
      });
  }
  for (const hpa of hpas) checkHpa(object, hpa, type);
}

/** Whether two of one namespace want the same target. */
export function haveOneTarget(one: ScaledObject, other: ScaledObject): boolean {
  const [a, b] = [targetOf(one), targetOf(other)];
  return a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;
}

/** Of two that want the same, who was there first has it. */
function isOlder({ metadata: a }: ScaledObject, { metadata: b }: ScaledObject): boolean {
  const [first, second] = [a.creationTimestamp ?? '', b.creationTimestamp ?? ''];
  return first < second || (first === second && (a.uid ?? '') < (b.uid ?? ''));
}

function checkHpa(object: ScaledObject, hpa: ManagedHpa, type: string): void {
  const { name, annotations } = hpa.metadata;
  const target = targetOf(object);
  const theirs = hpa.spec?.scaleTargetRef;
  const isSameTarget =
    theirs?.name === target.name &&
    theirs.kind === target.kind &&
    (theirs.apiVersion ?? '').split('/')[0] === target.apiVersion.split('/')[0];
  if (!isSameTarget && name !== hpaNameOf(object)) return;
  const owner = controllerOf(hpa);
  const isOwn = owner?.kind === 'ScaledObject' && owner.name === object.metadata.name;
  if (isOwn || annotations?.[OWNERSHIP] === 'false') return;
  if (!isSameTarget) {
    if (requestsOf(object).transfersHpa) return;
    throw new CheckFailure(
      STEPS.hpa,
      `the HPA '${name}' already scales another workload, '${theirs?.name}' of type '${theirs?.apiVersion}.${theirs?.kind}'`,
      { rule: 'other-hpa' },
    );
  }
  if (!requestsOf(object).transfersHpa)
    throw new CheckFailure(
      STEPS.hpa,
      `the workload '${target.name}' of type '${type}' is already managed by the hpa '${name}'`,
      { rule: 'other-hpa' },
    );
  if (object.spec.advanced?.horizontalPodAutoscalerConfig?.name !== name)
    throw new CheckFailure(
      STEPS.hpa,
      `the existing hpa '${name}' for workload '${target.name}' of type '${type}' must be specified by name in advanced settings to enable ownership transfer`,
      { rule: 'transfer-ownership-missing-hpa-name' },
    );
}
