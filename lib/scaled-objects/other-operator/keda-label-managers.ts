import { type KubernetesObject, propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { StatusManager } from '#lib/kubernetes/objects/managed-fields.ts';

/** KEDA's operator by the name that its binary gives it. */
const MANAGER = /^keda/;
/** It has its own version in this one, so that it takes the label from us as it keeps its HPA in step. */
const LABEL = 'f:app.kubernetes.io/version';

/** Who has written the label of an HPA by which KEDA's operator cannot but write over ours, and when. */
export function kedaLabelManagers({ metadata }: KubernetesObject): readonly StatusManager[] {
  const entries = propertyOf(metadata, 'managedFields');
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown) => {
    const [manager, time] = [propertyOf(entry, 'manager'), propertyOf(entry, 'time')];
    const labels = propertyOf(propertyOf(propertyOf(entry, 'fieldsV1'), 'f:metadata'), 'f:labels');
    const isMeant =
      typeof manager === 'string' && MANAGER.test(manager) && propertyOf(labels, LABEL) !== undefined;
    const writtenAtMs = typeof time === 'string' ? Date.parse(time) : Number.NaN;
    return isMeant && !Number.isNaN(writtenAtMs) ? [{ manager, writtenAtMs }] : [];
  });
}
