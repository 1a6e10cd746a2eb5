import type { ListenAddress } from '#lib/flags/listen-address.ts';
import type { ScheduleDefaults } from './scaling-schedules/scheduled-value.ts';

/** Which sources the administrator names, and what is served. */
export interface MetricsAdapterPartOptions extends MetricsAdapterOptions {
  readonly prometheus: PrometheusOptions | undefined;
  /** By the names by which HPAs mean them. */
  readonly additionalPrometheus: ReadonlyMap<string, PrometheusOptions>;
  /** Folders of certificates, by the names of sources. */
  readonly sourceTls: ReadonlyMap<string, string>;
  /** Files that describe databases, by the names by which HPAs mean them. */
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

/** A Prometheus server. */
export interface PrometheusOptions {
  readonly url: string;
  /** `undefined` where it needs none. */
  readonly tokenFile: string | undefined;
}

/** A server that takes OAuth2 tokens. */
export interface TokenEndpoint {
  readonly url: string;
  /** Empty where it is in the folder. */
  readonly token: string;
  /** Has the files `NAME-token-secret` and `NAME-token-type`. */
  readonly credentialsFolder: string;
  readonly tokenName: string;
}

/** What is served, and how long values count. */
export interface MetricsAdapterOptions {
  readonly servesCustom: boolean;
  readonly servesExternal: boolean;
  readonly defaultIntervalMs: number;
  readonly metricsTtlMs: number;
  /** How often HPAs are listed where they may not be watched. */
  readonly relistMs: number;
  /** Whether metrics whose collector is not known are passed over in silence. */
  readonly passesOverUnknown: boolean;
}
