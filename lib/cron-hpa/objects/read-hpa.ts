import * as z from 'zod/mini';
import type { CronHpa } from '../cron-hpa.ts';
import { type Hpa, RAISED_MAX } from './hpa.ts';
import { targetKey } from './same-target.ts';

const HPA = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    resourceVersion: z.string(),
    annotations: z._default(z.record(z.string(), z.string()), {}),
    ownerReferences: z._default(
      z.array(z.object({ kind: z.string(), name: z.string(), controller: z.optional(z.boolean()) })),
      [],
    ),
  }),
  spec: z.object({
    scaleTargetRef: z.object({ apiVersion: z.optional(z.string()), kind: z.string(), name: z.string() }),
    minReplicas: z._default(z.int(), 1),
    maxReplicas: z.int(),
  }),
});

/**
 * Takes what the API server sent for a HorizontalPodAutoscaler, in whichever version; of its annotations the one alone that is ours.
 *
 * @returns `undefined` if it is none
 */
export function readHpa(value: unknown): Hpa | undefined {
  const read = HPA.safeParse(value);
  if (!read.success) return undefined;
  const { metadata, spec } = read.data;
  const { ownerReferences, name, namespace, resourceVersion } = metadata;
  const raisedMax = metadata.annotations[RAISED_MAX];
  const annotations = raisedMax === undefined ? {} : { [RAISED_MAX]: raisedMax };
  const controller = ownerReferences.find(
    (owner) => owner.controller === true || owner.kind === 'ScaledObject',
  );
  return { name, namespace, resourceVersion, annotations, controller, ...spec };
}

/** The HPA that scales what an object scales, or that is itself what the object names. */
export function hpaOf({ namespace, spec }: CronHpa, hpas: Iterable<Hpa>): Hpa | undefined {
  const { kind, name } = spec.scaleTargetRef;
  const target = targetKey(namespace, spec.scaleTargetRef);
  for (const hpa of hpas) {
    if (hpa.namespace !== namespace) continue;
    if (kind === 'HorizontalPodAutoscaler') {
      if (hpa.name === name) return hpa;
      continue;
    }
    const { apiVersion = '', ...reference } = hpa.scaleTargetRef;
    if (targetKey(namespace, { apiVersion, ...reference }) === target) return hpa;
  }
  return undefined;
}
