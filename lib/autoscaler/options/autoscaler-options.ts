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
  positive,
  text,
} from '#lib/flags/flag.ts';
import { formatHelp, formatMarkdown } from '#lib/flags/format-flags.ts';
import { parseListenAddress } from '#lib/flags/listen-address.ts';
import { type LoggingOptions, loggingFlags } from '#lib/flags/logging-flags.ts';
import { FlagError, type ParsedFlags, parseFlags } from '#lib/flags/parse-flags.ts';
import { isDnsLabel } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { MetricsAdapterPartOptions } from '#lib/metrics-adapter/metrics-adapter-options.ts';
import type { ScaledObjectsFlags, WebhookOptions } from '#lib/scaled-objects/scaled-objects-options.ts';
import { type ControllerName, selectControllers } from '../controller-names.ts';
import { generalFlags } from './general-flags.ts';
import { type HpaOptions, hpaFlags, hpaOptionsOf } from './hpa-options.ts';
import {
  metricsAdapterFlags,
  metricsAdapterOptionsOf,
  prometheusOf,
  tlsFolders,
} from './metrics-adapter-options.ts';
import { scaledObjectsFlags } from './scaled-objects-options.ts';
import { metricsSourceFlags } from './source-options.ts';

/** Which one of several replicas acts. */
const leaderElectionFlags = {
  leaderElect: flag('leader-elect', boolean, {
    default: true,
    description: 'Act only while holding the lease, so that several replicas can run.',
  }),
  leaseDurationMs: flag('leader-elect-lease-duration', duration, {
    default: 15_000,
    description: 'For how long others leave a holder alone that they do not hear of.',
  }),
  renewDeadlineMs: flag('leader-elect-renew-deadline', duration, {
    default: 10_000,
    description:
      'For how long a holder that cannot renew the lease goes on acting; shorter than its duration.',
  }),
  retryPeriodMs: flag('leader-elect-retry-period', duration, {
    default: 2_000,
    description: 'How often the lease is renewed, or looked at.',
    validate: positive,
  }),
  leaseName: flag('leader-elect-resource-name', text, {
    default: 'autoscaler',
    description: 'The name of the Lease.',
    validate: notEmpty,
  }),
  leaseNamespace: flag('leader-elect-resource-namespace', text, {
    default: 'kube-system',
    description: 'Its namespace.',
    validate: notEmpty,
  }),
};

/** Flags of the library that kube-metrics-adapter is made of, accepted so that its manifests run unchanged. */
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
  { title: 'Flags of the sources of metrics', flags: metricsSourceFlags },
  { title: 'ScaledObject flags', flags: scaledObjectsFlags },
  { title: 'Leader election flags', flags: leaderElectionFlags },
  { title: 'Serving flags', flags: servingFlags },
  { title: 'Authentication flags', flags: authenticationFlags },
  { title: 'Authorization flags', flags: authorizationFlags },
  { title: 'Logging flags', flags: loggingFlags },
  { title: 'Compatibility flags', flags: compatibilityFlags },
];

const USAGE = 'autoscaler [flags], autoscaler doctor [flags], or autoscaler explain-hpa FILE [flags]';

/** What the doctor looks at, beside the flags of the autoscaler that it takes too. */
const doctorFlags = {
  output: sharedFlags.output,
  namespace: flag('namespace', text, {
    shorthand: 'n',
    default: '',
    description: 'The one namespace whose objects are looked at; by default all.',
    validate: (namespace) =>
      namespace === '' || isDnsLabel(namespace) ? undefined : 'must be the name of a namespace',
  }),
  serverAccount: sharedFlags.serverAccount,
};

const DOCTOR_SECTIONS: readonly FlagSection[] = [{ title: 'Doctor flags', flags: doctorFlags }, ...SECTIONS];

/** The command line of the autoscaler, checked and in one piece; frozen. */
export interface AutoscalerOptions {
  /** `undefined` for the pod's service account. */
  readonly kubeconfig: string | undefined;
  readonly controllers: ReadonlySet<ControllerName>;
  readonly cronHpa: { readonly workers: number; readonly timeZone: string };
  readonly hpa: HpaOptions & Pick<MetricsAdapterPartOptions, 'prometheus' | 'sourceTls'>;
  readonly scaledObjects: ScaledObjectsFlags;
  /** `undefined` where neither API is served. */
  readonly metricsAdapter: MetricsAdapterPartOptions | undefined;
  readonly apiRate: { readonly perSecond: number; readonly burst: number };
  /** Nothing is written, and what would be done is logged. */
  readonly isDryRun: boolean;
  /** `undefined` where this process acts without being elected, as in a dry run. */
  readonly leaderElection: LeaderElectionSettings | undefined;
  readonly serving: ServingOptions;
  readonly authentication: AuthenticationOptions;
  readonly authorization: AuthorizationOptions;
  readonly logging: LoggingOptions;
}

/** By which Lease a leader is elected, and with which timings. */
export interface LeaderElectionSettings {
  readonly lease: { readonly namespace: string; readonly name: string };
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** What the doctor is asked for beside what the autoscaler's flags say. */
export interface DoctorOptions {
  readonly output: 'text' | 'json';
  /** The one namespace to look at; `undefined` for all. */
  readonly namespace: string | undefined;
  /** Whose permissions to look at; `undefined` for those of the credentials that are used. */
  readonly serverAccount: string | undefined;
}

/** What the command line asks for. */
export type AutoscalerCommandLine =
  | RunCommand
  | (Omit<RunCommand, 'kind'> & { readonly kind: 'doctor'; readonly doctor: DoctorOptions })
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' };

interface RunCommand {
  readonly kind: 'run';
  readonly options: AutoscalerOptions;
  /** Flags that have no effect, and why. */
  readonly ignored: readonly { readonly argument: string; readonly reason: string }[];
}

/**
 * Reads the command line of the autoscaler; with `doctor` in front it is that of the doctor, which has flags of its own beside all
 * of the autoscaler's.
 *
 * @param argv behind the word `autoscaler`
 * @param ownNamespace where the program runs; `undefined` outside a cluster
 * @throws {FlagError} for what is unknown, malformed or contradictory
 */
export function parseAutoscalerOptions(
  argv: readonly string[],
  ownNamespace?: string,
): AutoscalerCommandLine {
  const [command = '', ...rest] = argv;
  if (command === 'doctor') {
    const parsed = parseFlags({ ...FLAGS, ...doctorFlags }, rest);
    const asked = askedInstead(parsed.values, 'autoscaler doctor [flags]', DOCTOR_SECTIONS);
    return (
      asked ?? {
        kind: 'doctor',
        ...readFlags(parsed, ownNamespace),
        doctor: doctorOptionsOf(parsed.values),
      }
    );
  }
  if (/^[^-]/.test(command))
    throw new FlagError(
      `There is no command autoscaler ${JSON.stringify(command.slice(0, 100))}: there are doctor, explain-hpa, and none to run it`,
    );
  const parsed = parseFlags(FLAGS, argv);
  return askedInstead(parsed.values, USAGE, SECTIONS) ?? { kind: 'run', ...readFlags(parsed, ownNamespace) };
}

/** Help and version are told whatever else the command line says. */
function askedInstead(
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
  if (stray !== undefined) throw new FlagError(`"${stray}" is no flag`);
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

/** Every flag with its default and what it does, as Markdown tables. */
export function formatAutoscalerFlagTables(): string {
  return formatMarkdown(SECTIONS);
}

function refuseContradictions(values: FlagValues<typeof FLAGS>): void {
  const { leaderElect, leaseDurationMs, renewDeadlineMs, retryPeriodMs, tlsCertFile, tlsPrivateKeyFile } =
    values;
  if (values.webhookAddress !== '' && values.webhookCertDir === '')
    throw new FlagError(
      '--webhook-address needs --webhook-cert-dir: API servers call nobody whose certificate they cannot verify',
    );
  const { kubeconfig, listerKubeconfig } = values;
  if (kubeconfig !== '' && listerKubeconfig !== '' && kubeconfig !== listerKubeconfig)
    throw new FlagError('--kubeconfig and --lister-kubeconfig mean the same: give one of them');
  if (Boolean(tlsCertFile) !== Boolean(tlsPrivateKeyFile))
    throw new FlagError('--tls-cert-file and --tls-private-key-file need each other: give both or none');
  if (!leaderElect) return;
  if (leaseDurationMs <= renewDeadlineMs)
    throw new FlagError('--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline');
  if (renewDeadlineMs <= retryPeriodMs * RETRY_JITTER)
    throw new FlagError(
      '--leader-elect-renew-deadline must be longer than 1.2 times --leader-elect-retry-period',
    );
}

/** How much later than its period a retry may come. */
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
    cronHpa: { workers: values.concurrentCronHpaSyncs, timeZone: values.cronHpaTimeZone },
    hpa: { ...hpaOptionsOf(values), prometheus: prometheusOf(values), sourceTls: tlsFolders(values) },
    metricsAdapter: metricsAdapterOptionsOf(values),
    scaledObjects: {
      workers: values.concurrentScaledObjectSyncs,
      httpTimeoutMs: values.triggerHttpTimeoutMs,
      awsIdentityHosts: values.awsIdentityHosts,
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

function notEmpty(value: string): string | undefined {
  return value === '' ? 'must not be empty' : undefined;
}

function ignored(kind: FlagKind<unknown>, names: readonly string[]): FlagSet {
  const facts = { default: undefined, description: '', ignoredBecause: 'no meaning in this program' };
  return Object.fromEntries(names.map((name) => [name, flag(name, kind, facts)]));
}
