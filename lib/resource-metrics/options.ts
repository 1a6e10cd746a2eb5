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
import type { FlagSection, FlagValues } from '#lib/flags/flag.ts';
import { formatHelp, formatMarkdown } from '#lib/flags/format-flags.ts';
import { type LoggingOptions, loggingFlags } from '#lib/flags/logging-flags.ts';
import { FlagError, type ParsedFlags, parseFlags } from '#lib/flags/parse-flags.ts';
import { formatDuration } from '#lib/time/duration.ts';
import {
  compatibilityFlags,
  doctorFlags,
  EXTRA_RESOURCES,
  generalFlags,
  kubeletFlags,
  watchFlags,
} from './flags.ts';

const metricsServingFlags = { ...servingFlags, ...watchFlags };

const EFFECTIVE_FLAGS = {
  ...generalFlags,
  ...kubeletFlags,
  ...metricsServingFlags,
  ...authenticationFlags,
  ...authorizationFlags,
  ...loggingFlags,
};

const SERVER_FLAGS = { ...compatibilityFlags, ...EFFECTIVE_FLAGS };

const SECTIONS: readonly FlagSection[] = [
  { title: 'Metrics server flags', flags: generalFlags },
  { title: 'Kubelet client flags', flags: kubeletFlags },
  { title: 'Serving flags', flags: metricsServingFlags },
  { title: 'Authentication flags', flags: authenticationFlags },
  { title: 'Authorization flags', flags: authorizationFlags },
  { title: 'Logging flags', flags: loggingFlags },
  { title: 'Flags without effect', flags: compatibilityFlags },
];

const DOCTOR_SECTIONS: readonly FlagSection[] = [{ title: 'Doctor flags', flags: doctorFlags }, ...SECTIONS];

/**
 * Parses the command line of the metrics server, or with the first argument `doctor` that of the doctor, which has
 * all flags of the server and its own.
 *
 * @param argv without the program's name
 * @throws {FlagError} for unknown, malformed or contradictory arguments
 */
export function parseOptions(argv: readonly string[]): CommandLine {
  const [command, ...rest] = argv;
  if (command === 'doctor') {
    const parsed = parseFlags({ ...SERVER_FLAGS, ...doctorFlags }, rest);
    const shortcut = helpOrVersion(parsed.values, 'metrics-server doctor [flags]', DOCTOR_SECTIONS);
    return (
      shortcut ?? { kind: 'doctor', ...readServerFlags(parsed), doctor: createDoctorOptions(parsed.values) }
    );
  }
  rejectUnknownCommand(command);
  const parsed = parseFlags(SERVER_FLAGS, argv);
  const usage =
    'metrics-server [flags], metrics-server doctor [flags], autoscaler [flags], or prometheus-operator render -f FOLDER';
  return helpOrVersion(parsed.values, usage, SECTIONS) ?? { kind: 'run', ...readServerFlags(parsed) };
}

/** A first argument that is not a flag is a misspelt command. */
function rejectUnknownCommand(word: string | undefined): void {
  if (word && !word.startsWith('-'))
    throw new FlagError(
      `Unknown command "${word}": must be metrics-server, autoscaler, prometheus-operator or doctor`,
    );
}

/** --help and --version take precedence over everything else. */
function helpOrVersion(
  { help, version }: FlagValues<typeof generalFlags>,
  usage: string,
  sections: readonly FlagSection[],
): CommandLine | undefined {
  if (help) return { kind: 'help', text: formatHelp(usage, sections) };
  return version ? { kind: 'version' } : undefined;
}

function readServerFlags(parsed: ParsedFlags<typeof SERVER_FLAGS>): Omit<RunCommand, 'kind'> {
  rejectContradictions(parsed.values);
  const ignored = [
    ...parsed.given.flatMap(({ name, ignoredBecause }) =>
      ignoredBecause === undefined ? [] : [{ argument: `--${name}`, reason: ignoredBecause }],
    ),
    ...parsed.arguments.map((argument) => ({ argument, reason: 'not a flag' })),
  ];
  return { options: createOptions(parsed.values), ignored };
}

/** Formats all flags with defaults and descriptions as Markdown tables. */
export function formatFlagTables(): string {
  return formatMarkdown(SECTIONS);
}

/** The validated command line of the metrics server; frozen. */
export interface MetricsServerOptions {
  /** `undefined` for the pod's service account. */
  readonly kubeconfig: string | undefined;
  readonly metricResolutionMs: number;
  /** 0 drops the metrics of a node as soon as a scrape fails. */
  readonly metricStalenessMs: number;
  /** In addition to CPU and memory. */
  readonly extraResources: readonly (typeof EXTRA_RESOURCES)[number][];
  /** A label selector; empty for all nodes. */
  readonly nodeSelector: string;
  readonly kubelet: KubeletOptions;
  readonly serving: MetricsServingOptions;
  readonly authentication: AuthenticationOptions;
  readonly authorization: AuthorizationOptions;
  readonly logging: LoggingOptions;
}

interface KubeletOptions {
  /** In order of preference. */
  readonly preferredAddressTypes: readonly string[];
  readonly port: number;
  readonly useNodeStatusPort: boolean;
  /** Whether a certificate may name the node or another of its addresses instead of the address in use. */
  readonly verifyNodeName: boolean;
  /** PEM; at most one of the two is set. */
  readonly certificateAuthorityFile: string | undefined;
  readonly certificateAuthorityText: string | undefined;
  /** Both or neither is set. */
  readonly clientCertificateFile: string | undefined;
  readonly clientKeyFile: string | undefined;
  readonly insecureTls: boolean;
  /** Plain HTTP without credentials. */
  readonly completelyInsecure: boolean;
  readonly metricsEndpoint: 'auto' | 'summary' | 'resource';
  readonly requestTimeoutMs: number;
  readonly dialTimeoutMs: number;
  readonly maxResponseBytes: number;
}

interface MetricsServingOptions extends ServingOptions {
  readonly enableWatch: boolean;
}

/** An argument without effect. */
interface IgnoredArgument {
  /** As in `--profiling`. */
  readonly argument: string;
  readonly reason: string;
}

/** Options of the doctor, in addition to those of the server. */
export interface DoctorOptions {
  readonly output: 'text' | 'json';
  /** `undefined` for all nodes. */
  readonly node: string | undefined;
  /** The service of the server, `NAMESPACE/NAME`. */
  readonly service: string;
  /** The account whose permissions are checked; `undefined` for that of the doctor's credentials. */
  readonly serverAccount: string | undefined;
}

export type CommandLine =
  | RunCommand
  | (Omit<RunCommand, 'kind'> & { readonly kind: 'doctor'; readonly doctor: DoctorOptions })
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' };

interface RunCommand {
  readonly kind: 'run';
  readonly options: MetricsServerOptions;
  readonly ignored: readonly IgnoredArgument[];
}

function createDoctorOptions(values: FlagValues<typeof doctorFlags>): DoctorOptions {
  return Object.freeze({
    output: values.output,
    node: given(values.node),
    service: values.service,
    serverAccount: given(values.serverAccount),
  });
}

function createOptions(values: FlagValues<typeof EFFECTIVE_FLAGS>): MetricsServerOptions {
  return Object.freeze({
    kubeconfig: given(values.kubeconfig),
    metricResolutionMs: values.metricResolutionMs,
    metricStalenessMs: values.metricStalenessMs ?? values.metricResolutionMs + values.kubeletRequestTimeoutMs,
    extraResources: EXTRA_RESOURCES.filter((name) => values.extraResources.includes(name)),
    nodeSelector: values.nodeSelector,
    kubelet: Object.freeze({
      preferredAddressTypes: values.kubeletPreferredAddressTypes,
      port: values.kubeletPort,
      useNodeStatusPort: values.kubeletUseNodeStatusPort,
      verifyNodeName: values.kubeletVerifyNodeName,
      certificateAuthorityFile: given(values.kubeletCertificateAuthority),
      certificateAuthorityText: given(values.kubeletCertificateAuthorityText),
      clientCertificateFile: given(values.kubeletClientCertificate),
      clientKeyFile: given(values.kubeletClientKey),
      insecureTls: values.kubeletInsecureTls,
      completelyInsecure: values.deprecatedKubeletCompletelyInsecure,
      metricsEndpoint: values.kubeletMetricsEndpoint,
      requestTimeoutMs: values.kubeletRequestTimeoutMs,
      dialTimeoutMs: values.kubeletDialTimeoutMs,
      maxResponseBytes: values.kubeletMaxResponseBytes,
    }),
    serving: Object.freeze({ ...servingOptionsOf(values), enableWatch: values.enableWatch }),
    authentication: authenticationOptionsOf(values),
    authorization: authorizationOptionsOf(values),
    logging: Object.freeze({ format: values.loggingFormat, verbosity: values.verbosity }),
  });
}

/** As in Go, an empty text means that a flag is not set. */
function given(text: string): string | undefined {
  return text === '' ? undefined : text;
}

const FLAGS = { ...generalFlags, ...kubeletFlags, ...servingFlags };

type Property = keyof typeof FLAGS;

/** Mutually exclusive flags. */
const CONTRADICTIONS: readonly (readonly [Property, Property])[] = [
  ['kubeletCertificateAuthority', 'kubeletCertificateAuthorityText'],
  ['kubeletCertificateAuthority', 'kubeletInsecureTls'],
  ['kubeletCertificateAuthorityText', 'kubeletInsecureTls'],
  ['kubeletClientKey', 'deprecatedKubeletCompletelyInsecure'],
  ['kubeletClientCertificate', 'deprecatedKubeletCompletelyInsecure'],
  ['kubeletInsecureTls', 'deprecatedKubeletCompletelyInsecure'],
  ['kubeletCertificateAuthority', 'deprecatedKubeletCompletelyInsecure'],
  ['kubeletCertificateAuthorityText', 'deprecatedKubeletCompletelyInsecure'],
];

/** Flags that must be set together. */
const COMPANIONS: readonly (readonly [Property, Property])[] = [
  ['kubeletClientCertificate', 'kubeletClientKey'],
  ['tlsCertFile', 'tlsPrivateKeyFile'],
];

/** Timestamps of the summary are whole seconds, which is too coarse for a shorter window. */
const MIN_SUMMARY_RESOLUTION_MS = 10_000;

/** Leaves time in the cycle to process a late response. */
const MAX_REQUEST_SHARE = 0.9;

/** @throws {FlagError} naming the flags that exclude or require each other */
function rejectContradictions(values: FlagValues<typeof FLAGS>): void {
  for (const [one, other] of CONTRADICTIONS) {
    if (!values[one] || !values[other]) continue;
    throw new FlagError(`${formatFlag(one, values)} and ${formatFlag(other, values)} are mutually exclusive`);
  }
  for (const [one, other] of COMPANIONS) {
    if (Boolean(values[one]) === Boolean(values[other])) continue;
    const [present, absent] = values[one] ? [one, other] : [other, one];
    throw new FlagError(`${formatFlag(present, values)} and --${FLAGS[absent].name} must be set together`);
  }
  const { kubeletMetricsEndpoint, kubeletRequestTimeoutMs, metricResolutionMs, metricStalenessMs } = values;
  if (metricResolutionMs < MIN_SUMMARY_RESOLUTION_MS && kubeletMetricsEndpoint !== 'resource') {
    throw new FlagError(
      `${formatFlag('metricResolutionMs', values)} is too short for /stats/summary: must be at least ` +
        `${formatDuration(MIN_SUMMARY_RESOLUTION_MS)}, or set with --kubelet-metrics-endpoint=resource`,
    );
  }
  if (kubeletRequestTimeoutMs > metricResolutionMs * MAX_REQUEST_SHARE) {
    throw new FlagError(
      `${formatFlag('kubeletRequestTimeoutMs', values)} is too long: must be at most 90% of ` +
        `${formatFlag('metricResolutionMs', values)}, which is ${formatDuration(metricResolutionMs * MAX_REQUEST_SHARE)}`,
    );
  }
  const minStalenessMs = metricResolutionMs + kubeletRequestTimeoutMs;
  if (metricStalenessMs && metricStalenessMs < minStalenessMs) {
    throw new FlagError(
      `${formatFlag('metricStalenessMs', values)} is too short: must be 0s, or at least the sum of --metric-resolution ` +
        `and --kubelet-request-timeout, which is ${formatDuration(minStalenessMs)}`,
    );
  }
}

function formatFlag(property: Property, values: FlagValues<typeof FLAGS>): string {
  const value = values[property];
  const { name } = FLAGS[property];
  if (typeof value === 'boolean') return `--${name}`;
  return `--${name}=${typeof value === 'number' ? formatDuration(value) : firstLine(String(value))}`;
}

/** A certificate given as text has many lines. */
function firstLine(text: string): string {
  const [first = '', ...others] = text.split('\n');
  return others.length > 0 ? `${first}…` : first;
}
