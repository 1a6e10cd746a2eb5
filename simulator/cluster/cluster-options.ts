import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';

/** Where a cluster listens and what it takes its time from. */
export interface ClusterOptions {
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Of the API server; 127.0.0.1 unless told otherwise. */
  readonly address?: string;
  /** Of the API server; 0, the default, for any that is free. */
  readonly port?: number;
  /** The one port of all kubelets; 0, the default, for any that is free. */
  readonly kubeletPort?: number;
  /** Where metrics.k8s.io is served. */
  readonly metricsServer?: ServerAddress;
  /** Where custom.metrics.k8s.io and external.metrics.k8s.io are. */
  readonly autoscaler?: ServerAddress;
}

/** Where a server of further groups listens. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  /** PEM to verify it by; without one its certificate is not verified. */
  readonly caPem?: string;
}
