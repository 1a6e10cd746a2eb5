import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';

const PAUSED = 'autoscaling.keda.sh/paused';
/** Says how many replicas a paused target is to have. */
export const PAUSED_REPLICAS = 'autoscaling.keda.sh/paused-replicas';
const PAUSED_SCALE_IN = 'autoscaling.keda.sh/paused-scale-in';
const PAUSED_SCALE_OUT = 'autoscaling.keda.sh/paused-scale-out';
const FORCE_ACTIVATION = 'autoscaling.keda.sh/force-activation';
/** Whether an HPA that is there already may be taken over. */
const TRANSFER_HPA = 'scaledobject.keda.sh/transfer-hpa-ownership';
/** Labels of a ScaledObject that its HPA does not get. */
const EXCLUDED_LABELS = 'scaledobject.keda.sh/hpa-excluded-labels';

/** What the annotations of an object ask for. */
export interface KedaAnnotations {
  /** Neither loop nor HPA. */
  readonly isPaused: boolean;
  /** The text that says how many replicas there are to be meanwhile; `undefined` where it is left as it is. */
  readonly pausedReplicas: string | undefined;
  readonly isScaleInPaused: boolean;
  readonly isScaleOutPaused: boolean;
  readonly isActivationForced: boolean;
  readonly transfersHpa: boolean;
  readonly excludedLabels: readonly string[];
}

const TRUE = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const FALSE = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

/** Reads what annotations ask for; of those that pause, any text but one of Go's for false does. */
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

/** Go's boolean of a text; `undefined` for what is none. */
export function goBoolean(text: string): boolean | undefined {
  if (TRUE.includes(text)) return true;
  return FALSE.includes(text) ? false : undefined;
}
