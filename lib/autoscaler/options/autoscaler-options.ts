import {
  type AuthenticationOptions,
  type AuthorizationOptions,
  authenticationFlags,
  authenticationOptionsOf,
  authorizationFlags,
  authorizationOptionsOf,
  type ServingOptions,
  servingFlags,
  servingOptionsOf,
} from '#lib/apiserver/server-options.ts';
import { doctorFlags as sharedFlags } from '#lib/doctor/doctor.ts';
import {
  boolean,
  duration,
  type FlagKind,
  type FlagSection,
  type FlagSet,
  type FlagValues,
  flag,
  text,
} from '#lib/flags/flag.ts';
import { formatHelp, formatMarkdown } from '#lib/flags/format-flags.ts';
import { parseListenAddress } from '#lib/flags/listen-address.ts';
import { type LoggingOptions, loggingFlags } from '#lib/flags/logging-flags.ts';
import { FlagError, type ParsedFlags, parseFlags } from '#lib/flags/parse-flags.ts';
import { isDnsLabel } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { WebhookOptions } from '#lib/scaled-objects/scaled-objects-options.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { type ControllerName, type SubsystemOptions, selectControllers } from '../subsystems.ts';
import { generalFlags } from './general-flags.ts';
import { hpaFlags, hpaOptionsOf } from './hpa-flags.ts';
import { leaderElectionFlags } from './leader-election-flags.ts';
import {
  metricsAdapterFlags,
  metricsAdapterOptionsOf,
  prometheusOf,
  tlsFolders,
} from './metrics-adapter-flags.ts';
import { scaledObjectsFlags } from './scaled-objects-flags.ts';
import { metricsSourceFlags } from './source-flags.ts';

/** Flags of the framework of kube-metrics-adapter, accepted so that its manifests run unchanged. */
const compatibilityFlags: FlagSet = {
  ...ignored(boolean, [
    'contention-profiling',
    'enable-priority-and-fairness',
    'permit-address-sharing',
    'permit-port-sharing',
    'profiling',
  ]),
  ...ignored(duration, ['log-flush-frequency']),
  ...ignored(text, ['debug-socket-path', 'vmodule']),
};

const FLAGS = {
  ...generalFlags,
  ...hpaFlags,
  ...metricsAdapterFlags,
  ...scaledObjectsFlags,
  ...metricsSourceFlags,
  ...leaderElectionFlags,
  ...servingFlags,
  ...authenticationFlags,
  ...authorizationFlags,
  ...loggingFlags,
  ...compatibilityFlags,
};

const SECTIONS: readonly FlagSection[] = [
  { title: 'Autoscaler flags', flags: generalFlags },
  { title: 'HorizontalPodAutoscaler flags', flags: hpaFlags },
  { title: 'Custom and external metrics flags', flags: metricsAdapterFlags },
  { title: 'Metric source flags', flags: metricsSourceFlags },
  { title: 'ScaledObject flags', flags: scaledObjectsFlags },
  { title: 'Leader election flags', flags: leaderElectionFlags },
  { title: 'Serving flags', flags: servingFlags },
  { title: 'Authentication flags', flags: authenticationFlags },
  { title: 'Authorization flags', flags: authorizationFlags },
  { title: 'Logging flags', flags: loggingFlags },
  { title: 'Compatibility flags', flags: compatibilityFlags },
];

const USAGE = 'autoscaler [flags], autoscaler doctor [flags], or autoscaler explain-hpa FILE [flags]';

/** Flags of the doctor in addition to those of the autoscaler. */
const doctorFlags = {
  output: sharedFlags.output,
  namespace: flag('namespace', text, {
    shorthand: 'n',
    default: '',
    description: 'Check only objects of this namespace. By default, all namespaces.',
    validate: (namespace) =>
      namespace === '' || isDnsLabel(namespace) ? undefined : 'must be the name of a namespace',
  }),
  serverAccount: sharedFlags.serverAccount,
};

const DOCTOR_SECTIONS: readonly FlagSection[] = [{ title: 'Doctor flags', flags: doctorFlags }, ...SECTIONS];

/** The validated command line; frozen. */
export interface AutoscalerOptions extends SubsystemOptions {
  /** `undefined` for the service account of the pod. */
  readonly kubeconfig: string | undefined;
  readonly apiRate: { readonly perSecond: number; readonly burst: number };
  /** Writes nothing, and logs changes. */
  readonly isDryRun: boolean;
  /** `undefined` without leader election, as in a dry run. */
  readonly leaderElection: LeaderElectionSettings | undefined;
  readonly serving: ServingOptions;
  readonly authentication: AuthenticationOptions;
  readonly authorization: AuthorizationOptions;
  readonly logging: LoggingOptions;
}

/** The lease of leader election, and its timings. */
export interface LeaderElectionSettings {
  readonly lease: { readonly namespace: string; readonly name: string };
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

export interface DoctorOptions {
  readonly output: 'text' | 'json';
  /** The namespace to examine; `undefined` for all. */
  readonly namespace: string | undefined;
  /** The user whose permissions are checked; `undefined` for the current credentials. */
  readonly serverAccount: string | undefined;
}

export type AutoscalerCommandLine =
  | RunCommand
  | (Omit<RunCommand, 'kind'> & { readonly kind: 'doctor'; readonly doctor: DoctorOptions })
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' };

interface RunCommand {
  readonly kind: 'run';
  readonly options: AutoscalerOptions;
  /** Flags without effect, with the reason. */
  readonly ignored: readonly { readonly argument: string; readonly reason: string }[];
}

/**
 * Parses the command line of the autoscaler, or of `autoscaler doctor`, which has flags in addition to those of the
 * autoscaler.
 *
 * @param argv after the word `autoscaler`
 * @param ownNamespace namespace of the program; `undefined` outside a cluster
 * @throws {FlagError} for unknown, malformed or contradictory flags
 */
export function parseAutoscalerOptions(
  argv: readonly string[],
  ownNamespace?: string,
): AutoscalerCommandLine {
  const [command = '', ...rest] = argv;
  if (command === 'doctor') {
    const parsed = parseFlags({ ...FLAGS, ...doctorFlags }, rest);
    const information = findHelpOrVersion(parsed.values, 'autoscaler doctor [flags]', DOCTOR_SECTIONS);
    return (
      information ?? {
        kind: 'doctor',
        ...readFlags(parsed, ownNamespace),
        doctor: doctorOptionsOf(parsed.values),
      }
    );
  }
  if (/^[^-]/.test(command))
    throw new FlagError(
      `Unknown command ${JSON.stringify(command.slice(0, 100))}: must be doctor or explain-hpa`,
    );
  const parsed = parseFlags(FLAGS, argv);
  return (
    findHelpOrVersion(parsed.values, USAGE, SECTIONS) ?? { kind: 'run', ...readFlags(parsed, ownNamespace) }
  );
}

/** Help and version take precedence over all other flags. */
function findHelpOrVersion(
  { help, version }: FlagValues<typeof generalFlags>,
  usage: string,
  sections: readonly FlagSection[],
): AutoscalerCommandLine | undefined {
  if (help) return { kind: 'help', text: formatHelp(usage, sections) };
  return version ? { kind: 'version' } : undefined;
}

function readFlags(
  { values, given, arguments: [stray] }: ParsedFlags<typeof FLAGS>,
  ownNamespace: string | undefined,
): Omit<RunCommand, 'kind'> {
  if (stray !== undefined) throw new FlagError(`"${stray}" is not a flag`);
  refuseContradictions(values);
  const ignored = given.flatMap(({ name, ignoredBecause: reason }) =>
    reason === undefined ? [] : [{ argument: `--${name}`, reason }],
  );
  return { options: optionsOf(values, ownNamespace), ignored };
}

function doctorOptionsOf(values: FlagValues<typeof doctorFlags>): DoctorOptions {
  const { output, namespace, serverAccount } = values;
  return {
    output,
    namespace: namespace === '' ? undefined : namespace,
    serverAccount: serverAccount === '' ? undefined : serverAccount,
  };
}

/** Formats all flags as Markdown tables. */
export function formatAutoscalerFlagTables(): string {
  return formatMarkdown(SECTIONS);
}

function refuseContradictions(values: FlagValues<typeof FLAGS>): void {
  const { leaderElect, leaseDurationMs, renewDeadlineMs, retryPeriodMs, tlsCertFile, tlsPrivateKeyFile } =
    values;
  if (values.webhookAddress !== '' && values.webhookCertDir === '')
    throw new FlagError(
      '--webhook-address requires --webhook-cert-dir: API servers verify the certificate of webhooks',
    );
  const { kubeconfig, listerKubeconfig } = values;
  if (kubeconfig !== '' && listerKubeconfig !== '' && kubeconfig !== listerKubeconfig)
    throw new FlagError('--kubeconfig and --lister-kubeconfig are mutually exclusive');
  if (Boolean(tlsCertFile) !== Boolean(tlsPrivateKeyFile))
    throw new FlagError('--tls-cert-file and --tls-private-key-file must be set together');
  if (!leaderElect) return;
  if (leaseDurationMs <= renewDeadlineMs)
    throw new FlagError(
      `--leader-elect-lease-duration=${formatDuration(leaseDurationMs)} must be longer than --leader-elect-renew-deadline=${formatDuration(renewDeadlineMs)}`,
    );
  if (renewDeadlineMs <= retryPeriodMs * RETRY_JITTER)
    throw new FlagError(
      `--leader-elect-renew-deadline=${formatDuration(renewDeadlineMs)} must be longer than ${RETRY_JITTER} times --leader-elect-retry-period=${formatDuration(retryPeriodMs)}`,
    );
}

/** Factor by which a retry may be later than its period. */
const RETRY_JITTER = 1.2;

function webhookOf({
  webhookAddress,
  webhookCertDir: certDir,
}: FlagValues<typeof scaledObjectsFlags>): WebhookOptions | undefined {
  const address = parseListenAddress(webhookAddress);
  return address && { address, certDir };
}

function optionsOf(values: FlagValues<typeof FLAGS>, ownNamespace: string | undefined): AutoscalerOptions {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = values;
  const controllers = selectControllers(values.controllers);
  return Object.freeze({
    kubeconfig: values.kubeconfig || values.listerKubeconfig || undefined,
    controllers: typeof controllers === 'string' ? new Set<ControllerName>() : controllers,
    cronHpa: {
      workers: values.concurrentCronHpaSyncs,
      timeZone: values.cronHpaTimeZone,
      runsAlibaba: values.alibabaCronHpas,
    },
    hpa: { options: hpaOptionsOf(values), prometheus: prometheusOf(values), sourceTls: tlsFolders(values) },
    metricsAdapter: metricsAdapterOptionsOf(values),
    scaledObjects: {
      workers: values.concurrentScaledObjectSyncs,
      httpTimeoutMs: values.triggerHttpTimeoutMs,
      awsIdentityHosts: values.awsIdentityHosts,
      sharedServiceNamespaces: values.sharedServiceNamespaces,
      allowedHosts: values.allowedHosts,
      webhook: webhookOf(values),
      options: {
        namespaces: values.watchNamespace,
        clusterNamespace: values.clusterObjectNamespace || ownNamespace || values.leaseNamespace,
        restrictsSecrets: values.restrictSecretAccess,
        fileRoot: values.filePathAuthRootPath === '' ? undefined : values.filePathAuthRootPath,
        tokenLifetimeS: Math.floor(values.boundServiceAccountTokenExpiryMs / 1000),
        tokenAudience: values.boundServiceAccountTokenAudience || undefined,
        kedaNamespace: values.kedaNamespace,
        kedaLeaseEverywhere: values.kedaLeaseAllNamespaces,
      },
    },
    apiRate: {
      perSecond: values.kubeClientQps || values.kubeApiQps,
      burst: values.kubeClientBurst || values.kubeApiBurst,
    },
    isDryRun: values.dryRun,
    leaderElection:
      values.leaderElect && !values.dryRun
        ? {
            lease: { namespace: values.leaseNamespace, name: values.leaseName },
            leaseDurationMs,
            renewDeadlineMs,
            retryPeriodMs,
          }
        : undefined,
    serving: servingOptionsOf(values),
    authentication: authenticationOptionsOf(values),
    authorization: authorizationOptionsOf(values),
    logging: { format: values.loggingFormat, verbosity: values.verbosity },
  });
}

function ignored(kind: FlagKind<unknown>, names: readonly string[]): FlagSet {
  const facts = { default: undefined, description: '', ignoredBecause: 'not applicable to this program' };
  return Object.fromEntries(names.map((name) => [name, flag(name, kind, facts)]));
}
