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

/** What can be served beside CPU and memory. */
export const EXTRA_RESOURCES = ['ephemeral-storage', 'swap'] as const;

/** What the metrics server does, and of which cluster. */
export const generalFlags = {
  kubeconfig: flag('kubeconfig', text, {
    default: '',
    description:
      "Kubeconfig file for the API server, and for kubelets; by default the pod's service account is used.",
  }),
  metricResolutionMs: flag('metric-resolution', duration, {
    default: 60_000,
    description: 'How often every node is scraped; at least 10s.',
    validate: (durationMs) => (durationMs >= 10_000 ? undefined : 'must be 10s or longer'),
  }),
  metricStalenessMs: flag('metric-staleness', optional(duration), {
    default: undefined,
    description:
      'How old the last good response of a node may be when a scrape of it is lost, and still be served: the time from the start of the cycle that brought it to the start of the one that lost the scrape, by our own clock; 0s drops it at once. By default --metric-resolution and --kubelet-request-timeout together: one lost scrape is bridged, two are not.',
  }),
  extraResources: flag('extra-resources', texts, {
    default: [],
    description:
      'What to serve of nodes and containers beside CPU and memory, where their kubelet knows it: swap, as kubectl top --show-swap reads it, and ephemeral-storage, for which kubelets are asked for their full, longer summary.',
    validate: (names) => {
      const known: readonly string[] = EXTRA_RESOURCES;
      const unknown = names.find((name) => !known.includes(name));
      return unknown === undefined ? undefined : `"${unknown}" must be one of ${known.join(', ')}`;
    },
  }),
  version: flag('version', boolean, { default: false, description: 'Print the version and exit.' }),
  help: flag('help', boolean, { shorthand: 'h', default: false, description: 'Print this help and exit.' }),
};

/** How metrics are served, beside what every API server can do. */
export const watchFlags = {
  enableWatch: flag('enable-watch', boolean, {
    default: false,
    description:
      'Let clients watch metrics, as kubectl get --watch does: discovery says so, and metrics have a version. ' +
      'The reference cannot be watched.',
  }),
};

const ADDRESS_TYPES = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];
const MEBIBYTE = 1024 * 1024;

/** Which kubelets are asked, where, and how they are trusted. */
export const kubeletFlags = {
  kubeletPreferredAddressTypes: flag('kubelet-preferred-address-types', texts, {
    default: ADDRESS_TYPES,
    description: 'The types of node address to reach a kubelet at, the most wanted first.',
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
    description: "Use the port in the node's status where there is one, rather than --kubelet-port.",
  }),
  kubeletCertificateAuthority: flag('kubelet-certificate-authority', text, {
    default: '',
    description:
      "File with the authorities, in PEM, that sign kubelets' serving certificates; by default those of the API server.",
  }),
  kubeletCertificateAuthorityText: flag('kubelet-certificate-authority-text', text, {
    default: '',
    description: 'The same as text rather than a file.',
  }),
  kubeletVerifyNodeName: flag('kubelet-verify-node-name', boolean, {
    default: true,
    description:
      "Take a kubelet's certificate that names the node, or another of its addresses, though not the one it is asked at.",
  }),
  kubeletInsecureTls: flag('kubelet-insecure-tls', boolean, {
    default: false,
    description: "Do not verify kubelets' serving certificates. For testing only.",
  }),
  kubeletClientCertificate: flag('kubelet-client-certificate', text, {
    default: '',
    description: 'File with the client certificate, in PEM, to show to kubelets; needs --kubelet-client-key.',
  }),
  kubeletClientKey: flag('kubelet-client-key', text, {
    default: '',
    description: 'File with its key, in PEM.',
  }),
  deprecatedKubeletCompletelyInsecure: flag('deprecated-kubelet-completely-insecure', boolean, {
    default: false,
    description: 'DEPRECATED: ask kubelets in plain text and without credentials.',
  }),
  kubeletRequestTimeoutMs: flag('kubelet-request-timeout', duration, {
    default: 10_000,
    description: 'How long a kubelet may take to respond; at most 90% of --metric-resolution.',
    validate: positive,
  }),
  kubeletDialTimeoutMs: flag('kubelet-dial-timeout', duration, {
    default: 3_000,
    description: 'How long connecting to a kubelet, with the TLS handshake, may take.',
    validate: positive,
  }),
  kubeletMaxResponseBytes: flag('kubelet-max-response-bytes', integer, {
    default: 16 * MEBIBYTE,
    description: 'How long the response of a kubelet may be; the scrape of a node with a longer one fails.',
    validate: (bytes) =>
      bytes >= MEBIBYTE && bytes <= 256 * MEBIBYTE
        ? undefined
        : 'must be from 1048576 (1 MiB) to 268435456 (256 MiB)',
  }),
  kubeletMetricsEndpoint: flag('kubelet-metrics-endpoint', oneOf('auto', 'summary', 'resource'), {
    default: 'auto',
    description:
      'What kubelets are asked: summary is /stats/summary, resource is /metrics/resource, and auto is the summary, or /metrics/resource of a node that responds to that with 403 or 404.',
  }),
  nodeSelector: flag('node-selector', text, {
    shorthand: 'l',
    default: '',
    description: "Label selector of the nodes to scrape, as in 'pool=a,arch notin (arm64)'; by default all.",
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
    if (error instanceof SelectorError) return error.message;
    throw error;
  }
}

const NO_MEANING = 'no meaning in this program';
const NO_AUDIT_LOG = 'the API server audits what comes through it';

/** Flags of metrics-server that are accepted, so that its manifests run unchanged, and have no effect. */
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
    'audit-webhook-batch-max-wait',
    'audit-webhook-initial-backoff',
  ]),
};

function ignored(because: string, kind: FlagKind<unknown>, names: readonly string[]): FlagSet {
  const facts = { default: undefined, description: '', ignoredBecause: because }; // nobody asks for its value
  return Object.fromEntries(names.map((name) => [name, flag(name, kind, facts)]));
}

/** What the doctor looks at, beside the flags of the server that it takes too. */
export const doctorFlags = {
  output: sharedFlags.output,
  node: flag('node', text, {
    default: '',
    description: 'The one node to look at, with its pods; by default all nodes.',
  }),
  service: flag('service', text, {
    default: 'kube-system/metrics-server',
    description: 'The service of the server, NAMESPACE/NAME, that the APIService is to point at.',
    validate: (value) =>
      /^[^/]+\/[^/]+$/.test(value) ? undefined : 'must be a namespace and a name with a slash between',
  }),
  serverAccount: sharedFlags.serverAccount,
};
