/** A HorizontalPodAutoscaler, as far as we need it. */
export interface Hpa {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** The object that made it and is responsible for it. */
  readonly controller?: { readonly kind: string; readonly name: string } | undefined;
  readonly scaleTargetRef: {
    readonly apiVersion?: string | undefined;
    readonly kind: string;
    readonly name: string;
  };
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

/** Remembers on an HPA the maxReplicas that a job has raised, and to what: `5>8`. */
export const RAISED_MAX = 'autoscaling.stke.com/cron-hpa-raised-max-replicas';
