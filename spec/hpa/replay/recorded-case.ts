import type {
  HpaCondition,
  HpaSpec,
  MetricStatus,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { Requests } from '#lib/kubernetes/objects/pod.ts';

/** One recorded decision of Kubernetes' HPA controller, in the form of its file. Ages are seconds before "now". */
export interface RecordedCase {
  readonly id: string;
  readonly group: string;
  readonly config: {
    readonly tolerance: number;
    readonly cpuInitializationPeriodSeconds: number;
    readonly initialReadinessDelaySeconds: number;
    readonly downscaleStabilisationSeconds: number;
    readonly features?: {
      readonly configurableTolerance?: boolean;
      readonly podLevelResources?: boolean;
      readonly scaleToZero?: boolean;
    };
  };
  readonly hpa: {
    readonly spec: HpaSpec;
    readonly submittedSpec?: HpaSpec;
    readonly status?: RecordedStatus & { readonly lastScaleTimeAgeSeconds?: number };
  };
  readonly otherHpas?: readonly {
    readonly name: string;
    readonly namespace: string;
    readonly selector: string;
  }[];
  readonly scale: {
    readonly specReplicas: number;
    readonly statusReplicas: number;
    readonly selector: string;
    readonly getError?: string;
    readonly updateError?: string;
    readonly updateConflicts?: number;
  };
  readonly pods: readonly RecordedPod[];
  readonly metrics: RecordedMetrics;
  readonly history: RecordedHistory;
  readonly expected: RecordedOutcome;
}

export interface RecordedStatus {
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  readonly currentMetrics?: readonly MetricStatus[] | null;
  readonly conditions?: readonly RecordedCondition[];
}

export type RecordedCondition = Omit<HpaCondition, 'lastTransitionTime'> & {
  readonly lastTransitionAgeSeconds?: number;
};

export interface RecordedPod {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly phase: string;
  readonly deleting?: boolean;
  readonly startedAgeSeconds: number | null;
  readonly ready: boolean | 'Unknown' | null;
  readonly readyTransitionAgeSeconds: number | null;
  readonly containers: readonly RecordedContainer[];
  readonly initContainers?: readonly RecordedContainer[];
  readonly podLevelRequests?: Requests;
  readonly overhead?: Requests;
}

interface RecordedContainer {
  readonly name: string;
  readonly requests?: Requests;
  readonly restartPolicy?: string;
}

export interface RecordedMetrics {
  readonly resource?: Readonly<Record<string, Readonly<Record<string, RecordedUsage>>>>;
  readonly pods?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly objects?: Readonly<Record<string, string>>;
  readonly external?: Readonly<Record<string, readonly string[]>>;
  readonly errors?: Readonly<Record<string, string>>;
}

export interface RecordedUsage {
  readonly containers: Readonly<Record<string, string>>;
  readonly ageSeconds: number;
  readonly windowSeconds: number;
}

export interface RecordedHistory {
  readonly recommendations?: readonly { readonly replicas: number; readonly ageSeconds: number }[];
  readonly scaleUpEvents?: readonly RecordedScaleEvent[];
  readonly scaleDownEvents?: readonly RecordedScaleEvent[];
}

export interface RecordedScaleEvent {
  readonly change: number;
  readonly ageSeconds: number;
}

/** The recorded actions of a reconciliation. */
export interface RecordedOutcome {
  readonly desiredReplicas: number | null;
  readonly status: RecordedStatus;
  readonly statusWritten: boolean;
  readonly lastScaleTimeSet: boolean;
  readonly events: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
  readonly error?: string;
  readonly historyAfter: RecordedHistory;
}
