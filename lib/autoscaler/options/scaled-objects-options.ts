import { boolean, duration, flag, integer, positive, text, texts } from '#lib/flags/flag.ts';
import { parseListenAddress } from '#lib/flags/listen-address.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { ruleBrokenByHosts } from './source-options.ts';

/** What clusters usually have as the API server's audience; that of each token is verified beside that. */
const OF_API_SERVER = /^(?:https?:\/\/)?kubernetes(?:\.default(?:\.svc(?:\.cluster\.local)?)?)?\/?$/;

/** How ScaledObjects are scaled. */
export const scaledObjectsFlags = {
  concurrentScaledObjectSyncs: flag('concurrent-scaled-object-syncs', integer, {
    default: 5,
    description: 'How many ScaledObjects are reconciled at once.',
    validate: positive,
  }),
  watchNamespace: flag('watch-namespace', texts, {
    default: [],
    description: 'In which namespaces ScaledObjects and ScaledJobs are followed; in all where none is given.',
  }),
  kedaNamespace: flag('keda-namespace', text, {
    default: 'keda',
    description:
      "In which namespace the lease operator.keda.sh of KEDA's operator counts: while it is held there, and for 60 s after its last renewal, ScaledObjects are left to KEDA. Empty where it counts nowhere.",
  }),
  kedaLeaseAllNamespaces: flag('keda-lease-all-namespaces', boolean, {
    default: false,
    description:
      'Have the lease operator.keda.sh count in any namespace. Needs list of that lease in all namespaces; all who may write leases anywhere can then stop the scaling of ScaledObjects.',
  }),
  webhookAddress: flag('webhook-address', text, {
    default: '',
    description:
      'Where ScaledObjects, ScaledJobs and their authentications are judged before the API server keeps them, as in :9443; by default nowhere. Needs --webhook-cert-dir.',
    validate: (address) =>
      address === '' || parseListenAddress(address) ? undefined : 'must be HOST:PORT or :PORT',
  }),
  webhookCertDir: flag('webhook-cert-dir', text, {
    default: '',
    description:
      'Folder with tls.crt and tls.key that are shown there, for the name SERVICE.NAMESPACE.svc; read again as they change.',
  }),
  awsIdentityHosts: flag('aws-identity-hosts', texts, {
    default: [],
    description:
      'Hosts that see the AWS identity of this program by HTTPS where a trigger has identityOwner operator and names one as its awsEndpoint, ' +
      'beside endpoints of SQS: names, *.suffix, addresses and CIDRs.',
    validate: ruleBrokenByHosts,
  }),
  triggerHttpTimeoutMs: flag('trigger-http-timeout', duration, {
    default: 3000,
    description: 'How long an HTTP request of a trigger may take that does not say it.',
    validate: positive,
  }),
  clusterObjectNamespace: flag('cluster-object-namespace', text, {
    default: '',
    description:
      "Where Secrets, ConfigMaps and service accounts are that ClusterTriggerAuthentications refer to; by default in the program's own namespace, which outside a cluster is --leader-elect-resource-namespace.",
  }),
  restrictSecretAccess: flag('restrict-secret-access', boolean, {
    default: false,
    description: 'Read no Secrets of other namespaces than --cluster-object-namespace.',
  }),
  filePathAuthRootPath: flag('filepath-auth-root-path', text, {
    default: '',
    description: 'Directory below which files with parameters are that ClusterTriggerAuthentications name.',
  }),
  boundServiceAccountTokenExpiryMs: flag('bound-service-account-token-expiry', duration, {
    default: 3_600_000,
    description: 'For how long tokens of service accounts are valid that TriggerAuthentications ask for.',
    validate: (lifetimeMs) =>
      lifetimeMs >= 3_600_000 && lifetimeMs <= 21_600_000 ? undefined : 'must be from 1h to 6h',
  }),
  boundServiceAccountTokenAudience: flag('bound-service-account-token-audience', text, {
    default: '',
    description:
      'The audience of tokens of service accounts that TriggerAuthentications request, which are sent to servers that tenants name; never one of the API server. Without it no tokens are requested.',
    validate: (audience) =>
      OF_API_SERVER.test(audience) ? 'must not be an audience of the API server' : undefined,
  }),
};

/** The environment, as far as KEDA's deployments say in it what a flag says here. */
type KedaEnvironment = Readonly<Record<string, string | undefined>>;

/** Each variable with the flag that it is: its value as that of the flag, `undefined` where it says nothing. */
const VARIABLES: Readonly<Record<string, (value: string) => string | undefined>> = {
  WATCH_NAMESPACE: (value) => `--watch-namespace=${value}`,
  KEDA_HTTP_DEFAULT_TIMEOUT: (value) => `--trigger-http-timeout=${value}ms`,
  KEDA_SCALEDOBJECT_CTRL_MAX_RECONCILES: (value) => `--concurrent-scaled-object-syncs=${value}`,
  KEDA_CLUSTER_OBJECT_NAMESPACE: (value) => `--cluster-object-namespace=${value}`,
  KEDA_RESTRICT_SECRET_ACCESS: (value) =>
    value.toLowerCase() === 'true' ? '--restrict-secret-access=true' : undefined,
  KEDA_BOUND_SERVICE_ACCOUNT_TOKEN_EXPIRY: (value) => `--bound-service-account-token-expiry=${value}`,
};

/**
 * A command line with the flags in front that the environment of KEDA's operator stands for, unless it has them itself.
 */
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
