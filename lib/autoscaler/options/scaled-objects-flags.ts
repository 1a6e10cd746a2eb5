import { boolean, duration, flag, integer, positive, text, texts } from '#lib/flags/flag.ts';
import { parseListenAddress } from '#lib/flags/listen-address.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { ruleBrokenByHosts } from './source-flags.ts';

/** Usual audiences of the API server; the actual one is checked for each token. */
const OF_API_SERVER = /^(?:https?:\/\/)?kubernetes(?:\.default(?:\.svc(?:\.cluster\.local)?)?)?\/?$/;

export const scaledObjectsFlags = {
  concurrentScaledObjectSyncs: flag('concurrent-scaled-object-syncs', integer, {
    default: 5,
    description: 'Concurrent reconciliations of ScaledObjects, and as many of ScaledJobs.',
    validate: positive,
  }),
  watchNamespace: flag('watch-namespace', texts, {
    default: [],
    description: 'Namespaces whose ScaledObjects and ScaledJobs are managed. By default, all namespaces.',
  }),
  kedaNamespace: flag('keda-namespace', text, {
    default: 'keda',
    description:
      "Namespace of the lease operator.keda.sh of KEDA's operator. While the operator holds the lease, and for 60 s after the last renewal, the autoscaler does not scale ScaledObjects. If empty, the lease is not checked.",
  }),
  kedaLeaseAllNamespaces: flag('keda-lease-all-namespaces', boolean, {
    default: false,
    description:
      'Check the lease operator.keda.sh in all namespaces. Requires the verb list on this lease in all namespaces. Everyone who may write leases in any namespace can then stop the scaling of ScaledObjects.',
  }),
  webhookAddress: flag('webhook-address', text, {
    default: '',
    description:
      'Address, such as :9443, of the admission webhook for ScaledObjects, ScaledJobs and their authentications; by default none. Requires --webhook-cert-dir.',
    validate: (address) =>
      address === '' || parseListenAddress(address) ? undefined : 'must be HOST:PORT or :PORT',
  }),
  webhookCertDir: flag('webhook-cert-dir', text, {
    default: '',
    description:
      'Folder with the certificate tls.crt and the key tls.key of the webhook, which are reloaded on change. The certificate must be valid for the name SERVICE.NAMESPACE.svc.',
  }),
  awsIdentityHosts: flag('aws-identity-hosts', texts, {
    default: [],
    description:
      'Hosts that triggers with identityOwner operator may set as awsEndpoint, in addition to endpoints of SQS. These hosts receive the AWS identity of this program over HTTPS. Names, *.suffix, addresses and CIDRs.',
    validate: ruleBrokenByHosts,
  }),
  sharedServiceNamespaces: flag('shared-service-namespaces', texts, {
    default: [],
    description:
      'Namespaces that share their Services: with aggregateFromKubeServiceEndpoints, triggers of other namespaces may query these Services. * means all namespaces. By default, triggers may query only Services of their own namespace.',
  }),
  triggerHttpTimeoutMs: flag('trigger-http-timeout', duration, {
    default: 3000,
    description: 'Timeout of the HTTP requests of triggers that set no timeout.',
    validate: positive,
  }),
  clusterObjectNamespace: flag('cluster-object-namespace', text, {
    default: '',
    description:
      'Namespace of the Secrets, ConfigMaps and service accounts that ClusterTriggerAuthentications refer to. By default, the namespace of the program; outside a cluster, that of --leader-elect-resource-namespace.',
  }),
  restrictSecretAccess: flag('restrict-secret-access', boolean, {
    default: false,
    description: 'Read Secrets of --cluster-object-namespace only.',
  }),
  filePathAuthRootPath: flag('filepath-auth-root-path', text, {
    default: '',
    description: 'Directory with the parameter files that ClusterTriggerAuthentications name.',
  }),
  boundServiceAccountTokenExpiryMs: flag('bound-service-account-token-expiry', duration, {
    default: 3_600_000,
    description: 'Lifetime of service account tokens for TriggerAuthentications, from 1h to 6h.',
    validate: (lifetimeMs) =>
      lifetimeMs >= 3_600_000 && lifetimeMs <= 21_600_000 ? undefined : 'must be from 1h to 6h',
  }),
  boundServiceAccountTokenAudience: flag('bound-service-account-token-audience', text, {
    default: '',
    description:
      'Audience of service account tokens for TriggerAuthentications. Servers of tenants receive these tokens, so it must not be an audience of the API server. If empty, no tokens are requested.',
    validate: (audience) =>
      OF_API_SERVER.test(audience) ? 'must not be an audience of the API server' : undefined,
  }),
};

/** The environment variables of KEDA that correspond to flags. */
type KedaEnvironment = Readonly<Record<string, string | undefined>>;

/** Each variable with its flag value; `undefined` for no flag. */
const VARIABLES: Readonly<Record<string, (value: string) => string | undefined>> = {
  WATCH_NAMESPACE: (value) => (value === '""' ? undefined : `--watch-namespace=${value}`), // "": all, as in KEDA
  KEDA_HTTP_DEFAULT_TIMEOUT: (value) => `--trigger-http-timeout=${value}ms`,
  KEDA_SCALEDOBJECT_CTRL_MAX_RECONCILES: (value) => `--concurrent-scaled-object-syncs=${value}`,
  KEDA_CLUSTER_OBJECT_NAMESPACE: (value) => `--cluster-object-namespace=${value}`,
  KEDA_RESTRICT_SECRET_ACCESS: (value) =>
    value.toLowerCase() === 'true' ? '--restrict-secret-access=true' : undefined,
  KEDA_BOUND_SERVICE_ACCOUNT_TOKEN_EXPIRY: (value) => `--bound-service-account-token-expiry=${value}`,
};

/** Prepends the flags that environment variables of KEDA's operator stand for, unless they are set. */
export function withFlagsOfEnvironment(
  argv: readonly string[],
  environment: KedaEnvironment,
): readonly string[] {
  const isGiven = (flag: string) => argv.some((word) => word.split('=')[0] === flag.split('=')[0]);
  return [...flagsOf(environment).filter((flag) => !isGiven(flag)), ...argv];
}

function flagsOf(environment: KedaEnvironment): readonly string[] {
  return Object.entries(VARIABLES).flatMap(([name, flagOf]) => {
    const value = getOwn(environment, name)?.trim();
    return (value && flagOf(value)) || [];
  });
}
