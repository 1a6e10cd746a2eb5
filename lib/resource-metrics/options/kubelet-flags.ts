import { flag } from '#lib/flags/flag.ts';
import { boolean, duration, integer, oneOf, text, texts } from '#lib/flags/flag-kinds.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { SelectorError } from '#lib/kubernetes/selectors/selector-error.ts';

const ADDRESS_TYPES = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];
const MEBIBYTE = 1024 * 1024;

/** Which kubelets are asked, where, and how they are trusted. */
export const kubeletFlags = {
  kubeletPreferredAddressTypes: flag('kubelet-preferred-address-types', texts, {
    default: ADDRESS_TYPES,
    description: 'The types of node address to reach a kubelet at, the most wanted first.',
    ruleBrokenBy: (types) => {
      if (types.length === 0) return 'must name at least one type';
      const unknown = types.find((type) => !ADDRESS_TYPES.includes(type));
      return unknown === undefined ? undefined : `"${unknown}" must be one of ${ADDRESS_TYPES.join(', ')}`;
    },
  }),
  kubeletPort: flag('kubelet-port', integer, {
    default: 10250,
    description: 'The port of kubelets.',
    ruleBrokenBy: (port) => (port >= 1 && port <= 65_535 ? undefined : 'must be from 1 to 65535'),
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
    ruleBrokenBy: positive,
  }),
  kubeletDialTimeoutMs: flag('kubelet-dial-timeout', duration, {
    default: 3_000,
    description: 'How long connecting to a kubelet, with the TLS handshake, may take.',
    ruleBrokenBy: positive,
  }),
  kubeletMaxResponseBytes: flag('kubelet-max-response-bytes', integer, {
    default: 16 * MEBIBYTE,
    description: 'How long the response of a kubelet may be; the scrape of a node with a longer one fails.',
    ruleBrokenBy: (bytes) =>
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
    ruleBrokenBy: selectorError,
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
