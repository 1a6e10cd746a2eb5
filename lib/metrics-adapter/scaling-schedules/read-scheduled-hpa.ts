import * as z from 'zod/mini';
import { Quantity } from '#lib/kubernetes/quantity.ts';
import { keyOfSchedule, SCALING_SCHEDULES, type ScalingScheduleKind } from './scaling-schedule.ts';

/** What is kept of an HPA that schedules scale. */
export interface ScheduledHpa {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly target: { readonly apiVersion: string; readonly kind: string; readonly name: string };
  readonly maxReplicas: number;
  readonly schedules: readonly {
    readonly kind: ScalingScheduleKind;
    readonly key: string;
    readonly averageValue: number;
  }[];
}

const REFERENCE = z.object({ apiVersion: z._default(z.string(), ''), kind: z.string(), name: z.string() });
const METRIC = z.object({
  object: z.optional(
    z.object({
      describedObject: REFERENCE,
      target: z.object({ averageValue: z.optional(z.union([z.string(), z.number()])) }),
    }),
  ),
});
const HPA = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string(), uid: z._default(z.string(), '') }),
  spec: z.object({
    scaleTargetRef: REFERENCE,
    maxReplicas: z.int(),
    metrics: z._default(z.nullable(z.array(METRIC)), []),
  }),
});

/** Takes an HPA of version v2 or v2beta2; `undefined` for one that no schedule scales by an average. */
export function readScheduledHpa(value: unknown): ScheduledHpa | undefined {
  const read = HPA.safeParse(value);
  if (!read.success) return undefined;
  const { metadata, spec } = read.data;
  const schedules = (spec.metrics ?? []).flatMap(({ object }) => {
    const { kind, name, apiVersion } = object?.describedObject ?? { kind: '', name: '', apiVersion: '' };
    const known = SCALING_SCHEDULES.kinds.find((one) => one === kind);
    const average = Quantity.parse(String(object?.target.averageValue ?? ''));
    const isOurs = apiVersion.split('/')[0] === SCALING_SCHEDULES.apiVersion.split('/')[0];
    if (!known || !isOurs || !average) return [];
    const namespace = known === 'ScalingSchedule' ? metadata.namespace : '';
    return [
      { kind: known, key: keyOfSchedule({ namespace, name }), averageValue: Number(average.nanos) / 1e9 },
    ];
  });
  if (schedules.length === 0) return undefined;
  return { ...metadata, target: spec.scaleTargetRef, maxReplicas: spec.maxReplicas, schedules };
}
