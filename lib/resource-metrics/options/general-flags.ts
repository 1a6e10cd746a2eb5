import { flag } from '#lib/flags/flag.ts';
import { boolean, duration, optional, text, texts } from '#lib/flags/flag-kinds.ts';

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
    ruleBrokenBy: (durationMs) => (durationMs >= 10_000 ? undefined : 'must be 10s or longer'),
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
    ruleBrokenBy: (names) => {
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
