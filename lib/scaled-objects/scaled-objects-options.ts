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
