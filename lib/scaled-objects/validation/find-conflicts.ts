import { controllerOf } from '#lib/control/owner-references.ts';
import type { ManagedHpa } from '../api/informers.ts';
import type { PreparedScaledObject } from '../preparation/prepared-scaled-object.ts';
import { violation } from './check-failure.ts';

const OWNERSHIP = 'validations.keda.sh/hpa-ownership';

export interface Conflicts {
  readonly objects: Iterable<PreparedScaledObject>;
  /** HPAs with the same target or the name of the object's HPA. */
  readonly hpas: Iterable<ManagedHpa>;
}

/** Checks that no other object or HPA scales the target. @throws {CheckFailure} */
export function checkConflicts(object: PreparedScaledObject, { objects, hpas }: Conflicts): void {
  const target = object.target.ref;
  const type = `${target.apiVersion}.${target.kind}`;
  for (const other of objects) {
    if (other.uid === object.uid || !isOlder(other, object)) continue;
    const managed = `is already managed by the ScaledObject '${other.name}'`;
    if (haveOneTarget(object, other))
      throw violation('other-scaled-object', `the workload '${target.name}' of type '${type}' ${managed}`);
    if (other.hpaName === object.hpaName)
      throw violation('other-scaled-object-hpa', `the HPA '${object.hpaName}' ${managed}`);
  }
  for (const hpa of hpas) checkHpa(object, hpa, type);
}

/** Whether two objects of one namespace have the same target. */
export function haveOneTarget(one: PreparedScaledObject, other: PreparedScaledObject): boolean {
  const [a, b] = [one.target.ref, other.target.ref];
  return a.name === b.name && a.kind === b.kind && a.apiVersion === b.apiVersion;
}

/** Of two objects with the same target, the older one wins. */
function isOlder(a: PreparedScaledObject, b: PreparedScaledObject): boolean {
  return a.createdAt < b.createdAt || (a.createdAt === b.createdAt && (a.uid ?? '') < (b.uid ?? ''));
}

function checkHpa(object: PreparedScaledObject, hpa: ManagedHpa, type: string): void {
  const { name, annotations } = hpa.metadata;
  const target = object.target.ref;
  const { transfersHpa } = object.annotations;
  const theirs = hpa.spec?.scaleTargetRef;
  const isSameTarget =
    theirs?.name === target.name &&
    theirs.kind === target.kind &&
    (theirs.apiVersion ?? '').split('/')[0] === target.apiVersion.split('/')[0];
  if (!isSameTarget && name !== object.hpaName) return;
  const owner = controllerOf(hpa);
  const isOwn = owner?.kind === 'ScaledObject' && owner.name === object.name;
  if (isOwn || annotations?.[OWNERSHIP] === 'false') return;
  if (!isSameTarget) {
    if (transfersHpa) return;
    throw violation(
      'other-hpa',
      `the HPA '${name}' already scales another workload, '${theirs?.name}' of type '${theirs?.apiVersion}.${theirs?.kind}'`,
    );
  }
  if (!transfersHpa)
    throw violation(
      'other-hpa',
      `the workload '${target.name}' of type '${type}' is already managed by the hpa '${name}'`,
    );
  if (object.givenHpaName !== name)
    throw violation(
      'transfer-ownership-missing-hpa-name',
      `the existing hpa '${name}' for workload '${target.name}' of type '${type}' must be specified by name in advanced settings to enable ownership transfer`,
    );
}
