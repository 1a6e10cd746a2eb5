import type { ListenAddress } from '#lib/flags/listen-address.ts';

/** How ScaledObjects are scaled. */
export interface ScaledObjectsOptions {
  /** Where objects are followed; everywhere if there are none. */
  readonly namespaces: readonly string[];
  /** Where what ClusterTriggerAuthentications refer to is. */
  readonly clusterNamespace: string;
  /** Secrets of other namespaces than that are not read. */
  readonly restrictsSecrets: boolean;
  /** Below this are files with parameters; `undefined` where there are none. */
  readonly fileRoot: string | undefined;
  readonly tokenLifetimeS: number;
  /** Whom tokens of service accounts are for; `undefined` where none are requested. */
  readonly tokenAudience: string | undefined;
  /** Where KEDA's operator has its lease; empty where that is not looked at. */
  readonly kedaNamespace: string;
  /** Whether a lease of that name counts in any other namespace, too. */
  readonly kedaLeaseEverywhere: boolean;
}

/** What flags say of ScaledObjects. */
export interface ScaledObjectsFlags {
  readonly workers: number;
  readonly options: ScaledObjectsOptions;
  /** Which hosts triggers may have queried. */
  readonly allowedHosts: readonly string[];
  /** By default of one HTTP request of a trigger. */
  readonly httpTimeoutMs: number;
  /** Which hosts, beside those of SQS, see the AWS identity of this program. */
  readonly awsIdentityHosts: readonly string[];
  /** Namespaces whose Services triggers of other namespaces may name as well; `*` for all. */
  readonly sharedServiceNamespaces: readonly string[];
  /** Where reviews are taken, and with which certificate; `undefined` where they are not. */
  readonly webhook: WebhookOptions | undefined;
}

/** Where objects are judged before the API server stores them. */
export interface WebhookOptions {
  readonly address: ListenAddress;
  /** With `tls.crt` and `tls.key`. */
  readonly certDir: string;
}
