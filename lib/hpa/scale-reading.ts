/** What the scale subresource of an HPA's target says. */
export interface Scale {
  readonly specReplicas: number;
  readonly statusReplicas: number;
  /** `status.selector`, as text. */
  readonly selector: string;
}

/** Why the scale of a target is not known. */
export interface ScaleFailure {
  /** What failed: reading the API version, finding the kind, or asking for the scale. */
  readonly step: 'api-version' | 'kind' | 'scale';
  readonly message: string;
}

/** Puts before a failure what the reconcile reports. */
export function scaleError({ step, message }: ScaleFailure, reference: string): string {
  if (step === 'api-version') return `invalid API version in scale target reference: ${message}`;
  if (step === 'kind') return `unable to determine resource for scale target reference: ${message}`;
  return `failed to query scale subresource for ${reference}: ${message}`;
}
