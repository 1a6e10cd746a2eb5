import { authenticationFlags } from '#lib/apiserver/flags/authentication-flags.ts';
import { authorizationFlags } from '#lib/apiserver/flags/authorization-flags.ts';
import { servingFlags } from '#lib/apiserver/flags/serving-flags.ts';
import {
  type AuthenticationOptions,
  type AuthorizationOptions,
  authenticationOptionsOf,
  authorizationOptionsOf,
  type ServingOptions,
  servingOptionsOf,
} from '#lib/apiserver/flags/serving-options.ts';
import type { FlagSection, FlagValues } from '#lib/flags/flag.ts';
import { FlagError } from '#lib/flags/flag-error.ts';
import { formatHelp } from '#lib/flags/format-help.ts';
import { formatMarkdown } from '#lib/flags/format-markdown.ts';
import { type LoggingOptions, loggingFlags } from '#lib/flags/logging-flags.ts';
import { parseFlags } from '#lib/flags/parse-flags.ts';
import { type ControllerName, selectControllers } from './controller-names.ts';
import { compatibilityFlags } from './options/compatibility-flags.ts';
import { generalFlags } from './options/general-flags.ts';
import { hpaFlags } from './options/hpa-flags.ts';
import { type HpaOptions, hpaOptionsOf } from './options/hpa-options.ts';
import { leaderElectionFlags } from './options/leader-election-flags.ts';
import { metricsAdapterFlags } from './options/metrics-adapter-flags.ts';
import {
  type MetricsAdapterPartOptions,
  metricsAdapterOptionsOf,
} from './options/metrics-adapter-options.ts';
import { metricsSourceFlags } from './options/metrics-source-flags.ts';

const FLAGS = {
  ...generalFlags,
  ...hpaFlags,
  ...metricsAdapterFlags,
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
  { title: 'Leader election flags', flags: leaderElectionFlags },
  { title: 'Serving flags', flags: servingFlags },
  { title: 'Authentication flags', flags: authenticationFlags },
  { title: 'Authorization flags', flags: authorizationFlags },
  { title: 'Logging flags', flags: loggingFlags },
  { title: 'Compatibility flags', flags: compatibilityFlags },
];

const USAGE = 'autoscaler [flags], or autoscaler explain-hpa FILE [flags]';

/** The command line of the autoscaler, checked and in one piece; frozen. */
export interface AutoscalerOptions {
  /** `undefined` for the pod's service account. */
  readonly kubeconfig: string | undefined;
  readonly controllers: ReadonlySet<ControllerName>;
  readonly cronHpa: { readonly workers: number; readonly timeZone: string };
  readonly hpa: HpaOptions;
  /** `undefined` where neither API is served. */
  readonly metricsAdapter: MetricsAdapterPartOptions | undefined;
  readonly apiRate: { readonly perSecond: number; readonly burst: number };
  /** `undefined` where this process acts without being elected. */
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

/** What the command line asks for. */
export type AutoscalerCommandLine =
  | {
      readonly kind: 'run';
      readonly options: AutoscalerOptions;
      /** Flags that have no effect, and why. */
      readonly ignored: readonly { readonly argument: string; readonly reason: string }[];
    }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' };

/**
 * Reads the command line of the autoscaler.
 *
 * @param argv behind the word `autoscaler`
 * @throws {FlagError} for what is unknown, malformed or contradictory
 */
export function parseAutoscalerOptions(argv: readonly string[]): AutoscalerCommandLine {
  const { values, given, arguments: others } = parseFlags(FLAGS, argv);
  if (values.help) return { kind: 'help', text: formatHelp(USAGE, SECTIONS) };
  if (values.version) return { kind: 'version' };
  const [stray] = others;
  if (stray !== undefined) throw new FlagError(`"${stray}" is no flag`);
  refuseContradictions(values);
  const ignored = given.flatMap(({ name, ignoredBecause: reason }) =>
    reason === undefined ? [] : [{ argument: `--${name}`, reason }],
  );
  return { kind: 'run', options: optionsOf(values), ignored };
}

/** Every flag with its default and what it does, as Markdown tables. */
export function formatAutoscalerFlagTables(): string {
  return formatMarkdown(SECTIONS);
}

function refuseContradictions(values: FlagValues<typeof FLAGS>): void {
  const { leaderElect, leaseDurationMs, renewDeadlineMs, retryPeriodMs, tlsCertFile, tlsPrivateKeyFile } =
    values;
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

function optionsOf(values: FlagValues<typeof FLAGS>): AutoscalerOptions {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = values;
  const controllers = selectControllers(values.controllers);
  return Object.freeze({
    kubeconfig: values.kubeconfig || values.listerKubeconfig || undefined,
    controllers: typeof controllers === 'string' ? new Set<ControllerName>() : controllers,
    cronHpa: { workers: values.concurrentCronHpaSyncs, timeZone: values.cronHpaTimeZone },
    hpa: hpaOptionsOf(values),
    metricsAdapter: metricsAdapterOptionsOf(values),
    apiRate: {
      perSecond: values.kubeClientQps || values.kubeApiQps,
      burst: values.kubeClientBurst || values.kubeApiBurst,
    },
    leaderElection: values.leaderElect
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
