import { flag } from '#lib/flags/flag.ts';
import { boolean, duration, repeatedText, text, texts } from '#lib/flags/flag-kinds.ts';
import { AllowedHosts } from '#lib/sources/http/allowed-hosts.ts';
import { parseSourceUrl } from '#lib/sources/http/source-url.ts';

/** What is collected for HPAs and served, by the names that kube-metrics-adapter has. */
export const metricsAdapterFlags = {
  enableCustomMetricsApi: flag('enable-custom-metrics-api', boolean, {
    default: true,
    description: 'Serve custom.metrics.k8s.io.',
  }),
  enableExternalMetricsApi: flag('enable-external-metrics-api', boolean, {
    default: true,
    description: 'Serve external.metrics.k8s.io.',
  }),
  prometheusServer: flag('prometheus-server', text, {
    default: '',
    description: 'URL of the Prometheus server that is asked where an HPA names no other.',
    ruleBrokenBy: (url) => (url === '' ? undefined : ruleBrokenByUrl(url)),
  }),
  prometheusServerTokenFile: flag('prometheus-server-token-file', text, {
    default: '',
    description: 'File with a bearer token for it; read again as it changes.',
  }),
  additionalPrometheusServer: flag('additional-prometheus-server', repeatedText, {
    default: [],
    description: 'Another Prometheus server, as NAME=URL, for HPAs that say prometheus-server-alias.',
    ruleBrokenBy: (entries) => {
      for (const entry of entries) {
        const [, url] = splitEntry(entry) ?? [];
        const broken = url === undefined ? 'must be NAME=URL' : ruleBrokenByUrl(url);
        if (broken) return broken;
      }
      return undefined;
    },
  }),
  allowedHosts: flag('allowed-hosts', texts, {
    default: [],
    description:
      'Which hosts HPAs may have asked: names, *.suffix, addresses and CIDRs. By default any; loopback, link-local, ' +
      'multicast and metadata addresses only where an address or CIDR names them.',
    ruleBrokenBy: (entries) => {
      const wrong = entries.find((entry) => !AllowedHosts.isEntry(entry));
      return wrong === undefined
        ? undefined
        : `${JSON.stringify(wrong)} must be a host name, *.suffix, IP address or CIDR`;
    },
  }),
  defaultCollectionIntervalMs: flag('default-collection-interval', duration, {
    default: 60_000,
    description: 'How often a source is asked where an HPA does not say it.',
    ruleBrokenBy: (intervalMs) => (intervalMs >= 1000 ? undefined : 'must be at least 1s'),
  }),
  metricsTtlMs: flag('metrics-ttl', duration, {
    default: 900_000,
    description: 'For how long a value counts at most; three intervals of its collector where that is less.',
    ruleBrokenBy: (ttlMs) => (ttlMs > 0 ? undefined : 'must be above 0'),
  }),
};

/** Splits `NAME=URL`; `undefined` for what is none. */
export function splitEntry(entry: string): readonly [name: string, url: string] | undefined {
  const equals = entry.indexOf('=');
  return equals < 1 ? undefined : [entry.slice(0, equals), entry.slice(equals + 1)];
}

function ruleBrokenByUrl(url: string): string | undefined {
  const read = parseSourceUrl(url);
  return typeof read === 'string' ? read : undefined;
}
