import type { ListenAddress } from '#lib/flags/listen-address.ts';

export interface ScaledObjectsOptions {
  /** Namespaces whose objects are watched; all if empty. */
  readonly namespaces: readonly string[];
  /** Namespace of the Secrets and ConfigMaps that ClusterTriggerAuthentications refer to. */
  readonly clusterNamespace: string;
  /** Whether only Secrets of `clusterNamespace` are read. */
  readonly restrictsSecrets: boolean;
  /** Root directory of files with parameters; `undefined` to read none. */
  readonly fileRoot: string | undefined;
  readonly tokenLifetimeS: number;
  /** Audience of service account tokens, never the API server; `undefined` to request none. */
  readonly tokenAudience: string | undefined;
  /** Namespace of KEDA's lease; empty to ignore leases. */
  readonly kedaNamespace: string;
  /** Whether a lease of that name counts in any namespace. */
  readonly kedaLeaseEverywhere: boolean;
}

export interface ScaledObjectsFlags {
  readonly workers: number;
  readonly options: ScaledObjectsOptions;
  /** Hosts that triggers may query. */
  readonly allowedHosts: readonly string[];
  /** Default timeout of one HTTP request of a trigger. */
  readonly httpTimeoutMs: number;
  /** Hosts besides those of SQS that receive the AWS identity of this program. */
  readonly awsIdentityHosts: readonly string[];
  /** Namespaces whose Services triggers of other namespaces may name as well; `*` for all. */
  readonly sharedServiceNamespaces: readonly string[];
  /** `undefined` to serve no webhook. */
  readonly webhook: WebhookOptions | undefined;
}

export interface WebhookOptions {
  readonly address: ListenAddress;
  /** Directory with `tls.crt` and `tls.key`. */
  readonly certDir: string;
}
