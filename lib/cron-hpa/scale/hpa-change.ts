import { type Hpa, RAISED_MAX } from '../target-conflicts.ts';

/** How an HPA is to be changed. */
export interface HpaChange {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** The new value of {@link RAISED_MAX}, `null` where it is to go, `undefined` where it stays as it is. */
  readonly raisedMax: string | null | undefined;
}

const FROM_TO = /^(\d{1,9})>(\d{1,9})$/;

/**
 * What becomes of an HPA when there are to be `size` replicas at least: its minReplicas; maxReplicas are raised if they are
 * below, and go back with the first job that needs them no more. Who has changed maxReplicas since keeps their say.
 *
 * @returns `undefined` where nothing changes
 */
export function hpaChange(hpa: Hpa, size: number): HpaChange | undefined {
  const [, fromText, toText] = FROM_TO.exec(hpa.annotations[RAISED_MAX] ?? '') ?? [];
  const isOurs = fromText !== undefined && Number(toText) === hpa.maxReplicas;
  const usualMax = isOurs ? Number(fromText) : hpa.maxReplicas;
  const maxReplicas = Math.max(usualMax, size);
  const remembered = maxReplicas > usualMax ? `${usualMax}>${maxReplicas}` : undefined;
  const known = hpa.annotations[RAISED_MAX];
  const raisedMax = remembered === known ? undefined : (remembered ?? null);
  if (hpa.minReplicas === size && hpa.maxReplicas === maxReplicas && raisedMax === undefined)
    return undefined;
  return { minReplicas: size, maxReplicas, raisedMax };
}

/** The change as a merge patch, which the API server refuses if the HPA has changed since it was read. */
export function hpaPatch(hpa: Hpa, { minReplicas, maxReplicas, raisedMax }: HpaChange): object {
  const annotations = raisedMax === undefined ? {} : { annotations: { [RAISED_MAX]: raisedMax } };
  return {
    metadata: { resourceVersion: hpa.resourceVersion, ...annotations },
    spec: { minReplicas, maxReplicas },
  };
}
