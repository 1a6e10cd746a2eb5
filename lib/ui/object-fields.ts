import { isDnsLabel } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { ComposedTarget, ComposerWork } from './composer.ts';
import type { Field, FormValues } from './form.ts';

const NAMESPACE: Field = { name: 'namespace', label: 'Namespace', placeholder: 'default' };
export const NAME: Field = { name: 'name', label: 'Name', placeholder: 'web', isRequired: true };
export const TARGET_KIND: Field = {
  name: 'targetKind',
  label: 'Kind of the target',
  options: ['Deployment', 'StatefulSet', 'ReplicaSet'],
};
const TARGET: Field = {
  name: 'target',
  label: 'Name of the target',
  hint: 'By default the name of the object.',
  placeholder: 'web',
};
export const OBJECT_FIELDS: readonly Field[] = [NAMESPACE, NAME, TARGET_KIND, TARGET];

/** Namespace, name and target of an object, with the problems of each. */
export function readObjectFields(values: FormValues) {
  const namespace = values.text(NAMESPACE) || 'default';
  const name = values.text(NAME);
  const givenTarget = values.text(TARGET);
  if (name === '') values.report(NAME.name, 'is missing');
  for (const [field, text] of [
    [NAMESPACE, namespace],
    [NAME, name],
    [TARGET, givenTarget],
  ] as const)
    if (text !== '' && !isDnsLabel(text))
      values.report(field.name, 'must be at most 63 lowercase letters, digits and "-"');
  const kind = values.text(TARGET_KIND);
  return {
    metadata: { name, namespace },
    target: { apiVersion: 'apps/v1', kind, name: givenTarget || name },
  };
}

/** Warns beside the name of the target if it cannot be scaled yet, or cannot be checked. */
export async function warnOfTarget(
  values: FormValues,
  target: ComposedTarget,
  work: ComposerWork,
): Promise<void> {
  const isRead = [NAMESPACE, NAME, TARGET].every(({ name }) => values.problemOf(name) === undefined);
  const problem = isRead ? await work.checkTarget(target) : undefined;
  if (problem !== undefined) values.warn(TARGET.name, problem);
}
