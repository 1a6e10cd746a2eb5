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
 * Reads the command line of the metrics server, which is that of the reference; with `doctor` in front it is that of
 * the doctor, which has flags of its own beside all of the server's.
 *
 * @param argv without the program's name
 * @throws {FlagError} for what is unknown, malformed or contradictory
 */
export function parseOptions(argv: readonly string[]): CommandLine {
  const [command, ...rest] = argv;
  if (command === 'doctor') {
    const parsed = parseFlags({ ...SERVER_FLAGS, ...doctorFlags }, rest);
    const asked = askedInstead(parsed.values, 'metrics-server doctor [flags]', DOCTOR_SECTIONS);
    return asked ?? { kind: 'doctor', ...readServerFlags(parsed), doctor: doctorOptionsOf(parsed.values) };
  }
  refuseMisspeltCommand(command);
  const parsed = parseFlags(SERVER_FLAGS, argv);
  const usage = 'metrics-server [flags], metrics-server doctor [flags], or autoscaler [flags]';
  return askedInstead(parsed.values, usage, SECTIONS) ?? { kind: 'run', ...readServerFlags(parsed) };
}

/** What begins a command line and is no flag was meant as a command: no other one is started in its place. */
function refuseMisspeltCommand(word: string | undefined): void {
  if (word && !word.startsWith('-'))
    throw new FlagError(`"${word}" is no command: there are metrics-server, autoscaler and doctor`);
}

/** Help and version are told whatever else the command line says. */
function askedInstead(
  { help, version }: FlagValues<typeof generalFlags>,
  usage: string,
  sections: readonly FlagSection[],
): CommandLine | undefined {
  if (help) return { kind: 'help', text: formatHelp(usage, sections) };
  return version ? { kind: 'version' } : undefined;
}

function readServerFlags(parsed: ParsedFlags<typeof SERVER_FLAGS>): Omit<RunCommand, 'kind'> {
  refuseContradictions(parsed.values);
  const ignored = [
    ...parsed.given.flatMap(({ name, ignoredBecause }) =>
      ignoredBecause === undefined ? [] : [{ argument: `--${name}`, reason: ignoredBecause }],
    ),
    ...parsed.arguments.map((argument) => ({ argument, reason: 'it is no flag' })),
  ];
  return { options: optionsOf(parsed.values), ignored };
}

/** Every flag with its default and what it does, as Markdown tables. */
export function formatFlagTables(): string {
  return formatMarkdown(SECTIONS);
}

/** The command line of the metrics server, checked and in one piece; frozen. */
export interface MetricsServerOptions {
  /** `undefined` for the pod's service account. */
  readonly kubeconfig: string | undefined;
  readonly metricResolutionMs: number;
  /** 0 drops what is not read again at once. */
  readonly metricStalenessMs: number;
  /** What is served beside CPU and memory. */
  readonly extraResources: readonly (typeof EXTRA_RESOURCES)[number][];
  /** A label selector; empty for all nodes. */
  readonly nodeSelector: string;
  readonly kubelet: KubeletOptions;
  readonly serving: MetricsServingOptions;
  readonly authentication: AuthenticationOptions;
  readonly authorization: AuthorizationOptions;
  readonly logging: LoggingOptions;
}

/** How kubelets are asked. */
interface KubeletOptions {
  /** Node address types, the most wanted first. */
  readonly preferredAddressTypes: readonly string[];
  readonly port: number;
  readonly useNodeStatusPort: boolean;
  /** Whether a certificate will do that names the node, and not the address it is asked at. */
  readonly verifyNodeName: boolean;
  /** Files and text are PEM; at most one of the two. */
  readonly certificateAuthorityFile: string | undefined;
  readonly certificateAuthorityText: string | undefined;
  /** Both or none. */
  readonly clientCertificateFile: string | undefined;
  readonly clientKeyFile: string | undefined;
  readonly insecureTls: boolean;
  /** Plain text, and no credentials. */
  readonly completelyInsecure: boolean;
  readonly metricsEndpoint: 'auto' | 'summary' | 'resource';
  readonly requestTimeoutMs: number;
  readonly dialTimeoutMs: number;
  readonly maxResponseBytes: number;
}

/** Where and how the API is served, and whether metrics can be watched. */
interface MetricsServingOptions extends ServingOptions {
  readonly enableWatch: boolean;
}

/** Something on the command line that has no effect. */
interface IgnoredArgument {
  /** As written, `--profiling`. */
  readonly argument: string;
  readonly reason: string;
}

/** What the doctor is asked for beside what the server's flags say. */
export interface DoctorOptions {
  readonly output: 'text' | 'json';
  /** The one node to look at; `undefined` for all. */
  readonly node: string | undefined;
  /** The service of the server, `NAMESPACE/NAME`. */
  readonly service: string;
  /** Whose permissions to look at; `undefined` for those of the credentials that are used. */
  readonly serverAccount: string | undefined;
}

/** What the command line asks for. */
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

function doctorOptionsOf(values: FlagValues<typeof doctorFlags>): DoctorOptions {
  return Object.freeze({
    output: values.output,
    node: given(values.node),
    service: values.service,
    serverAccount: given(values.serverAccount),
  });
}

function optionsOf(values: FlagValues<typeof EFFECTIVE_FLAGS>): MetricsServerOptions {
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

/** As in Go, an empty text is none. */
function given(text: string): string | undefined {
  return text === '' ? undefined : text;
}

const FLAGS = { ...generalFlags, ...kubeletFlags, ...servingFlags };

type Property = keyof typeof FLAGS;

/** Pairs of which at most one may be given. */
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

/** Pairs that are given together or not at all. */
const COMPANIONS: readonly (readonly [Property, Property])[] = [
  ['kubeletClientCertificate', 'kubeletClientKey'],
  ['tlsCertFile', 'tlsPrivateKeyFile'],
];

/** A kubelet that responds at the last moment leaves the cycle this much of its time. */
const MAX_REQUEST_SHARE = 0.9;

/** @throws {FlagError} naming two flags that, with their values, cannot both be meant */
function refuseContradictions(values: FlagValues<typeof FLAGS>): void {
  for (const [one, other] of CONTRADICTIONS) {
    if (!values[one] || !values[other]) continue;
    throw new FlagError(
      `${written(one, values)} contradicts ${written(other, values)}: give only one of them`,
    );
  }
  for (const [one, other] of COMPANIONS) {
    if (Boolean(values[one]) === Boolean(values[other])) continue;
    const [present, absent] = values[one] ? [one, other] : [other, one];
    throw new FlagError(`${written(present, values)} needs --${FLAGS[absent].name}: give both or none`);
  }
  const { kubeletRequestTimeoutMs, metricResolutionMs, metricStalenessMs } = values;
  if (kubeletRequestTimeoutMs > metricResolutionMs * MAX_REQUEST_SHARE) {
    throw new FlagError(
      `${written('kubeletRequestTimeoutMs', values)} is too long for ${written('metricResolutionMs', values)}: ` +
        `must be at most 90% of it, ${formatDuration(metricResolutionMs * MAX_REQUEST_SHARE)}`,
    );
  }
  const shortestStalenessMs = metricResolutionMs + kubeletRequestTimeoutMs;
  if (metricStalenessMs && metricStalenessMs < shortestStalenessMs) {
    throw new FlagError(
      `${written('metricStalenessMs', values)} is too short: must be 0s, or at least --metric-resolution and ` +
        `--kubelet-request-timeout together, ${formatDuration(shortestStalenessMs)}`,
    );
  }
}

function written(property: Property, values: FlagValues<typeof FLAGS>): string {
  const value = values[property];
  const { name } = FLAGS[property];
  if (typeof value === 'boolean') return `--${name}`;
  return `--${name}=${typeof value === 'number' ? formatDuration(value) : firstLine(String(value))}`;
}

/** A certificate given as text has many. */
function firstLine(text: string): string {
  const [first = '', ...others] = text.split('\n');
  return others.length > 0 ? `${first}…` : first;
}
