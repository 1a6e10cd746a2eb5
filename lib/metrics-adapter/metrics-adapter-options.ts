import type { ListenAddress } from '#lib/flags/listen-address.ts';
import type { ScheduleDefaults } from './scaling-schedules/scheduled-value.ts';

/** Configured sources, and what is served. */
export interface MetricsAdapterPartOptions extends MetricsAdapterOptions {
  readonly prometheus: PrometheusOptions | undefined;
  /** By name, for `prometheus-server-alias`. */
  readonly additionalPrometheus: ReadonlyMap<string, PrometheusOptions>;
  /** Folders of certificates, by the names of sources. */
  readonly sourceTls: ReadonlyMap<string, string>;
  /** Files that describe databases, by name. */
  readonly sqlSources: ReadonlyMap<string, string>;
  readonly skipper: {
    readonly ingresses: boolean;
    readonly routeGroups: boolean;
    /** Annotations of Ingresses with the weights of backends. */
    readonly backendsAnnotations: readonly string[];
  };
  /** The series that counts requests by host; `undefined` where these are not collected. */
  readonly externalRpsMetricName: string | undefined;
  readonly influxdb:
    | { readonly address: string; readonly token: string; readonly organization: string }
    | undefined;
  readonly zmon: TokenEndpoint | undefined;
  readonly nakadi: TokenEndpoint | undefined;
  /** Of SQS queues; `undefined` where these are not collected. */
  readonly awsRegions: readonly string[] | undefined;
  /** `undefined` where there are no scaling schedules. */
  readonly scalingSchedule: ScheduleDefaults | undefined;
  readonly allowedHosts: readonly string[];
  /** Where series are served over plain HTTP; `undefined` for nowhere. */
  readonly metricsAddress: ListenAddress | undefined;
}

export interface PrometheusOptions {
  readonly url: string;
  /** `undefined` where it requires none. */
  readonly tokenFile: string | undefined;
}

/** A server that accepts OAuth2 tokens. */
export interface TokenEndpoint {
  readonly url: string;
  /** Empty where it is in the folder. */
  readonly token: string;
  /** Folder of the files `NAME-token-secret` and `NAME-token-type`. */
  readonly credentialsFolder: string;
  readonly tokenName: string;
}

/** What is served, and how long values are valid. */
export interface MetricsAdapterOptions {
  readonly servesCustom: boolean;
  readonly servesExternal: boolean;
  readonly defaultIntervalMs: number;
  readonly metricsTtlMs: number;
  /** Interval of lists of HPAs where they may not be watched. */
  readonly relistMs: number;
  /** Whether metrics with an unknown collector are ignored silently. */
  readonly ignoresUnknown: boolean;
}
