import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';

const PAUSED = 'autoscaling.keda.sh/paused';
/** Number of replicas of a paused target; presence alone pauses. */
export const PAUSED_REPLICAS = 'autoscaling.keda.sh/paused-replicas';
const PAUSED_SCALE_IN = 'autoscaling.keda.sh/paused-scale-in';
const PAUSED_SCALE_OUT = 'autoscaling.keda.sh/paused-scale-out';
const FORCE_ACTIVATION = 'autoscaling.keda.sh/force-activation';
/** `true` lets a ScaledObject adopt an existing HPA. */
const TRANSFER_HPA = 'scaledobject.keda.sh/transfer-hpa-ownership';
/** Comma-separated labels of a ScaledObject that are not copied to its HPA. */
const EXCLUDED_LABELS = 'scaledobject.keda.sh/hpa-excluded-labels';

/** Settings that annotations of a ScaledObject or ScaledJob make. */
export interface KedaAnnotations {
  /** The object is not reconciled and has no HPA. */
  readonly isPaused: boolean;
  /** Unparsed number of replicas while paused; `undefined` leaves the target as it is. */
  readonly pausedReplicas: string | undefined;
  readonly isScaleInPaused: boolean;
  readonly isScaleOutPaused: boolean;
  readonly isActivationForced: boolean;
  readonly transfersHpa: boolean;
  readonly excludedLabels: readonly string[];
}

const TRUE = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const FALSE = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

/** Reads the annotations. As in KEDA, an annotation is on unless its text is one that Go parses as false. */
export function readKedaAnnotations({ metadata }: KubernetesObject): KedaAnnotations {
  const annotations = metadata.annotations ?? {};
  const isOn = (key: string) => {
    const text = getOwn(annotations, key);
    return text !== undefined && !FALSE.includes(text);
  };
  const pausedReplicas = annotations[PAUSED_REPLICAS];
  return {
    isPaused: pausedReplicas !== undefined || isOn(PAUSED),
    pausedReplicas,
    isScaleInPaused: isOn(PAUSED_SCALE_IN),
    isScaleOutPaused: isOn(PAUSED_SCALE_OUT),
    isActivationForced: isOn(FORCE_ACTIVATION),
    transfersHpa: annotations[TRANSFER_HPA] === 'true',
    excludedLabels: (annotations[EXCLUDED_LABELS] ?? '').split(','),
  };
}

/** Parses a boolean as Go's `strconv.ParseBool`; `undefined` for any other text. */
export function goBoolean(text: string): boolean | undefined {
  if (TRUE.includes(text)) return true;
  return FALSE.includes(text) ? false : undefined;
}
