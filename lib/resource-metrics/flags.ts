import { doctorFlags as sharedFlags } from '#lib/doctor/doctor.ts';
import {
  boolean,
  decimal,
  duration,
  type FlagKind,
  type FlagSet,
  flag,
  integer,
  oneOf,
  optional,
  text,
  texts,
} from '#lib/flags/flag.ts';
import { parseLabelSelector, SelectorError } from '#lib/kubernetes/selectors/label-selector.ts';

/** Resources served in addition to CPU and memory. */
export const EXTRA_RESOURCES = ['ephemeral-storage', 'swap'] as const;

export const generalFlags = {
  kubeconfig: flag('kubeconfig', text, {
    default: '',
    description:
      "Kubeconfig file for the API server and kubelets. By default, the pod's service account is used.",
  }),
  metricResolutionMs: flag('metric-resolution', duration, {
    default: 60_000,
    description:
      'Interval between scrapes of a node; at least 10s, or 5s with --kubelet-metrics-endpoint=resource.',
    validate: (durationMs) => (durationMs >= 5_000 ? undefined : 'must be 5s or longer'),
  }),
  metricStalenessMs: flag('metric-staleness', optional(duration), {
    default: undefined,
    description:
      'If a scrape of a node fails, the last successful response of the node is served up to this age. The age is the time from the start of the cycle of that response to the start of the cycle of the failed scrape. With 0s, the response is not served. By default, the sum of --metric-resolution and --kubelet-request-timeout, so that metrics are served after one failed scrape, but not after two. Another value must be 0s, or at least this sum.',
  }),
  extraResources: flag('extra-resources', texts, {
    default: [],
    description:
      'Resources to serve for nodes and containers in addition to CPU and memory, where the kubelet reports them: swap, as shown by kubectl top --show-swap, and ephemeral-storage, which requires the longer, full summary of kubelets.',
    validate: (names) => {
      const allowed: readonly string[] = EXTRA_RESOURCES;
      const unknown = names.find((name) => !allowed.includes(name));
      return unknown === undefined ? undefined : `"${unknown}" must be one of ${allowed.join(', ')}`;
    },
  }),
  version: flag('version', boolean, { default: false, description: 'Print the version and exit.' }),
  help: flag('help', boolean, { shorthand: 'h', default: false, description: 'Print this help and exit.' }),
};

export const watchFlags = {
  enableWatch: flag('enable-watch', boolean, {
    default: false,
    description:
      'Let clients watch metrics, as kubectl get --watch does: discovery lists the verb, and metrics have resource versions. ' +
      'metrics-server does not support this.',
  }),
};

const ADDRESS_TYPES = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];
const MEBIBYTE = 1024 * 1024;

export const kubeletFlags = {
  kubeletPreferredAddressTypes: flag('kubelet-preferred-address-types', texts, {
    default: ADDRESS_TYPES,
    description: 'Node address types to reach kubelets at, in order of preference.',
    validate: (types) => {
      if (types.length === 0) return 'must name at least one type';
      const unknown = types.find((type) => !ADDRESS_TYPES.includes(type));
      return unknown === undefined ? undefined : `"${unknown}" must be one of ${ADDRESS_TYPES.join(', ')}`;
    },
  }),
  kubeletPort: flag('kubelet-port', integer, {
    default: 10250,
    description: 'The port of kubelets.',
    validate: (port) => (port >= 1 && port <= 65_535 ? undefined : 'must be from 1 to 65535'),
  }),
  kubeletUseNodeStatusPort: flag('kubelet-use-node-status-port', boolean, {
    default: false,
    description: "Use the kubelet port in the node's status, if present, instead of --kubelet-port.",
  }),
  kubeletCertificateAuthority: flag('kubelet-certificate-authority', text, {
    default: '',
    description:
      "File with the PEM certificates of the authorities that sign kubelets' serving certificates. By default, those of the API server.",
  }),
  kubeletCertificateAuthorityText: flag('kubelet-certificate-authority-text', text, {
    default: '',
    description: 'Like --kubelet-certificate-authority, as text instead of a file.',
  }),
  kubeletVerifyNodeName: flag('kubelet-verify-node-name', boolean, {
    default: true,
    description:
      'Also accept a certificate of a kubelet that is valid for the name or another address of the node, instead of the address that is connected to.',
  }),
  kubeletInsecureTls: flag('kubelet-insecure-tls', boolean, {
    default: false,
    description: "Do not verify kubelets' serving certificates. For testing only.",
  }),
  kubeletClientCertificate: flag('kubelet-client-certificate', text, {
    default: '',
    description: 'File with the PEM client certificate for kubelets; requires --kubelet-client-key.',
  }),
  kubeletClientKey: flag('kubelet-client-key', text, {
    default: '',
    description: 'File with the PEM key of --kubelet-client-certificate.',
  }),
  deprecatedKubeletCompletelyInsecure: flag('deprecated-kubelet-completely-insecure', boolean, {
    default: false,
    description: 'DEPRECATED: Scrape kubelets over plain HTTP without credentials.',
  }),
  kubeletRequestTimeoutMs: flag('kubelet-request-timeout', duration, {
    default: 10_000,
    description: 'Timeout of a request to a kubelet; at most 90% of --metric-resolution.',
    validate: positive,
  }),
  kubeletDialTimeoutMs: flag('kubelet-dial-timeout', duration, {
    default: 3_000,
    description: 'Timeout for connecting to a kubelet, including the TLS handshake.',
    validate: positive,
  }),
  kubeletMaxResponseBytes: flag('kubelet-max-response-bytes', integer, {
    default: 16 * MEBIBYTE,
    description:
      'Maximum size of a response of a kubelet, from 1 MiB to 256 MiB. If a response is larger, the scrape fails.',
    validate: (bytes) =>
      bytes >= MEBIBYTE && bytes <= 256 * MEBIBYTE
        ? undefined
        : 'must be from 1048576 (1 MiB) to 268435456 (256 MiB)',
  }),
  kubeletMetricsEndpoint: flag('kubelet-metrics-endpoint', oneOf('auto', 'summary', 'resource'), {
    default: 'auto',
    description:
      'Endpoint of kubelets to scrape: summary (/stats/summary), resource (/metrics/resource), or auto, which uses /stats/summary unless the kubelet responds with 403 or 404.',
  }),
  nodeSelector: flag('node-selector', text, {
    shorthand: 'l',
    default: '',
    description:
      "Label selector of the nodes to scrape, as in 'pool=a,arch notin (arm64)'. By default, all nodes.",
    validate: selectorError,
  }),
};

function positive(durationMs: number): string | undefined {
  return durationMs > 0 ? undefined : 'must be longer than 0s';
}

function selectorError(selector: string): string | undefined {
  try {
    parseLabelSelector(selector);
    return undefined;
  } catch (error) {
    if (error instanceof SelectorError) return `must be a label selector: ${error.message}`;
    throw error;
  }
}

const NO_MEANING = 'not applicable to this program';
const NO_FEATURE_GATES = 'this program has no feature gates and emulates no version';
const NO_BROWSERS = 'pages of other sites cannot be clients';
const NO_STORAGE = 'there is no storage to wait for; probes fail as long as metrics are missing';
const NO_AUDIT_LOG = 'the API server audits forwarded requests';

/** Flags of metrics-server that are accepted without effect, so that its manifests work unchanged. */
export const compatibilityFlags: FlagSet = {
  ...ignored(NO_MEANING, boolean, [
    'contention-profiling',
    'enable-priority-and-fairness',
    'log-json-split-stream',
    'log-text-split-stream',
    'permit-address-sharing',
    'permit-port-sharing',
    'profiling',
  ]),
  ...ignored(NO_MEANING, duration, ['log-flush-frequency']),
  ...ignored(NO_MEANING, text, [
    'debug-socket-path',
    'log-json-info-buffer-size',
    'log-text-info-buffer-size',
    'vmodule',
  ]),
  ...ignored(NO_MEANING, text, ['advertise-address', 'external-hostname']),
  ...ignored(NO_MEANING, decimal, ['goaway-chance']),
  ...ignored('a watch without timeoutSeconds lasts for 30 to 60 minutes', integer, ['min-request-timeout']),
  ...ignored('when the server exits, watches end, and their clients connect again', duration, [
    'shutdown-watch-termination-grace-period',
  ]),
  ...ignored(NO_STORAGE, duration, ['livez-grace-period', 'storage-initialization-timeout']),
  ...ignored(NO_STORAGE, boolean, ['send-retry-after-while-not-ready-once', 'shutdown-send-retry-after']),
  ...ignored(NO_BROWSERS, texts, ['cors-allowed-origins', 'strict-transport-security-directives']),
  ...ignored(NO_FEATURE_GATES, texts, ['emulated-version', 'feature-gates', 'min-compatibility-version']),
  ...ignored(NO_FEATURE_GATES, boolean, [
    'emulation-forward-compatible',
    'runtime-config-emulation-forward-compatible',
  ]),
  ...ignored(NO_AUDIT_LOG, text, [
    'audit-log-format',
    'audit-log-mode',
    'audit-log-path',
    'audit-log-version',
    'audit-policy-file',
    'audit-webhook-config-file',
    'audit-webhook-mode',
    'audit-webhook-version',
  ]),
  ...ignored(NO_AUDIT_LOG, boolean, [
    'audit-log-batch-throttle-enable',
    'audit-log-compress',
    'audit-log-truncate-enabled',
    'audit-webhook-batch-throttle-enable',
    'audit-webhook-truncate-enabled',
  ]),
  ...ignored(NO_AUDIT_LOG, integer, [
    'audit-log-batch-buffer-size',
    'audit-log-batch-max-size',
    'audit-log-batch-throttle-burst',
    'audit-log-maxage',
    'audit-log-maxbackup',
    'audit-log-maxsize',
    'audit-log-truncate-max-batch-size',
    'audit-log-truncate-max-event-size',
    'audit-webhook-batch-buffer-size',
    'audit-webhook-batch-max-size',
    'audit-webhook-batch-throttle-burst',
    'audit-webhook-truncate-max-batch-size',
    'audit-webhook-truncate-max-event-size',
  ]),
  ...ignored(NO_AUDIT_LOG, decimal, ['audit-log-batch-throttle-qps', 'audit-webhook-batch-throttle-qps']),
  ...ignored(NO_AUDIT_LOG, duration, [
    'audit-log-batch-max-wait',
    'audit-webhook-batch-initial-backoff',
    'audit-webhook-batch-max-wait',
    'audit-webhook-initial-backoff',
  ]),
};

function ignored(because: string, kind: FlagKind<unknown>, names: readonly string[]): FlagSet {
  const facts = { default: undefined, description: '', ignoredBecause: because }; // the value is never read
  return Object.fromEntries(names.map((name) => [name, flag(name, kind, facts)]));
}

/** In addition to the flags of the server. */
export const doctorFlags = {
  output: sharedFlags.output,
  node: flag('node', text, {
    default: '',
    description: 'Check only this node and its pods. By default, all nodes.',
  }),
  service: flag('service', text, {
    default: 'kube-system/metrics-server',
    description: 'Service of the server, NAMESPACE/NAME, that the APIService must point to.',
    validate: (value) => (/^[^/]+\/[^/]+$/.test(value) ? undefined : 'must have the form NAMESPACE/NAME'),
  }),
  serverAccount: sharedFlags.serverAccount,
};
