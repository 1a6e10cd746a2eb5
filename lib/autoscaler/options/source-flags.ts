import { boolean, flag, namedTexts, repeatedText, text, texts } from '#lib/flags/flag.ts';
import { parseSourceUrl } from '#lib/sources/http/source-url.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';

/** A URL, possibly with user and password. */
const url = { default: '', validate: ruleBrokenByUrl, mayContainSecret: true };

/** Flags of metric sources, with the names of kube-metrics-adapter. */
export const metricsSourceFlags = {
  prometheusServer: flag('prometheus-server', text, {
    ...url,
    description: 'URL of the default Prometheus server, which is also used for the metrics of Skipper.',
  }),
  prometheusServerTokenFile: flag('prometheus-server-token-file', text, {
    default: '',
    description: 'File with a bearer token for --prometheus-server; reloaded on change.',
  }),
  additionalPrometheusServer: flag('additional-prometheus-server', namedTexts, {
    default: [],
    description:
      'Additional Prometheus servers for HPAs that set prometheus-server-alias, as NAME=URL or NAME=URL,NAME=URL.',
    validate: (entries) => firstBroken(entries, 'NAME=URL', ruleBrokenByUrl),
    mayContainSecret: true,
  }),
  additionalPrometheusServerTokenFile: flag('additional-prometheus-server-token-file', namedTexts, {
    default: [],
    description:
      'File with a bearer token for an additional Prometheus server, as NAME=PATH; reloaded on change.',
    validate: (entries) => firstBroken(entries, 'NAME=PATH', () => undefined),
  }),
  sourceTls: flag('source-tls', repeatedText, {
    default: [],
    description:
      'Folder with the TLS files of a source, as NAME=FOLDER. NAME is prometheus, prometheus/NAME for an additional server, influxdb, ' +
      'zmon or nakadi. In the folder, ca.crt contains the CA certificates that verify the source; tls.crt and tls.key are the client certificate and its key. The files are reloaded on change.',
    validate: (entries) => firstBroken(entries, 'NAME=FOLDER', () => undefined),
  }),
  sqlSources: flag('sql-source', repeatedText, {
    default: [],
    description:
      'A database that HPAs may query with SQL, as NAME=FILE. The file contains the keys system, host, port, user, password, database, namespaces and tls, and is reloaded on change.',
    validate: (entries) => firstBroken(entries, 'NAME=FILE', () => undefined),
  }),
  skipperIngressMetrics: flag('skipper-ingress-metrics', boolean, {
    default: false,
    description: 'Collect requests per second of Ingresses behind Skipper. Requires --prometheus-server.',
  }),
  skipperRouteGroupMetrics: flag('skipper-routegroup-metrics', boolean, {
    default: false,
    description: 'Collect requests per second of RouteGroups behind Skipper. Requires --prometheus-server.',
  }),
  skipperBackendsAnnotations: flag('skipper-backends-annotation', repeatedText, {
    default: [],
    description: 'The annotation of Ingresses that contains the traffic weight of each backend.',
  }),
  externalRpsMetrics: flag('external-rps-metrics', boolean, {
    default: false,
    description:
      'Enable the collector requests-per-second: the requests per second to host names, for External metrics. Requires --prometheus-server.',
  }),
  externalRpsMetricName: flag('external-rps-metric-name', text, {
    default: 'skipper_serve_host_duration_seconds_count',
    description: 'The Prometheus series that counts requests by host.',
  }),
  influxdbAddress: flag('influxdb-address', text, {
    ...url,
    description: 'URL of the default InfluxDB server.',
  }),
  influxdbToken: flag('influxdb-token', text, { default: '', description: 'Token for InfluxDB.' }),
  influxdbOrg: flag('influxdb-org', text, { default: '', description: 'Organization in InfluxDB.' }),
  zmonEndpoint: flag('zmon-kariosdb-endpoint', text, {
    ...url,
    description: 'URL of the KairosDB with the data of ZMON.',
  }),
  zmonTokenName: flag('zmon-token-name', text, {
    default: 'zmon',
    description: 'Name of the token for ZMON in --credentials-dir.',
  }),
  nakadiEndpoint: flag('nakadi-endpoint', text, { ...url, description: 'URL of Nakadi.' }),
  nakadiTokenName: flag('nakadi-token-name', text, {
    default: 'nakadi',
    description: 'Name of the token for Nakadi in --credentials-dir.',
  }),
  token: flag('token', text, {
    default: '',
    description: 'OAuth2 token for ZMON and Nakadi, instead of those in --credentials-dir.',
  }),
  credentialsDir: flag('credentials-dir', text, {
    default: '/meta/credentials',
    description: 'Folder with tokens, in files NAME-token-secret and NAME-token-type.',
  }),
  awsExternalMetrics: flag('aws-external-metrics', boolean, {
    default: false,
    description: 'Collect the lengths of SQS queues.',
  }),
  awsRegions: flag('aws-region', texts, {
    default: [],
    description: 'A region whose SQS queues may be queried.',
  }),
  allowedHosts: flag('allowed-hosts', texts, {
    default: [],
    description:
      'Hosts that HPAs and triggers may query: names, *.suffix, addresses and CIDRs. By default, any host. Loopback, link-local, multicast and metadata addresses are allowed only if an address or CIDR in this flag includes them.',
    validate: ruleBrokenByHosts,
  }),
};

/** Describes why a list of hosts is invalid. */
export function ruleBrokenByHosts(entries: readonly string[]): string | undefined {
  const wrong = entries.find((entry) => !AllowedHosts.isEntry(entry));
  return wrong === undefined
    ? undefined
    : `${JSON.stringify(wrong)} must be a host name, *.suffix, IP address or CIDR`;
}

/** Splits `NAME=VALUE`; `undefined` for other texts. */
export function splitEntry(entry: string): readonly [name: string, value: string] | undefined {
  const equals = entry.indexOf('=');
  return equals < 1 || equals === entry.length - 1
    ? undefined
    : [entry.slice(0, equals), entry.slice(equals + 1)];
}

/** The rule that the first invalid entry violates. */
function firstBroken(
  entries: readonly string[],
  form: string,
  ruleBroken: (value: string) => string | undefined,
): string | undefined {
  for (const entry of entries) {
    const split = splitEntry(entry);
    if (!split) return `must be ${form}`;
    const broken = ruleBroken(split[1]);
    if (broken) return broken;
  }
  return undefined;
}

function ruleBrokenByUrl(value: string): string | undefined {
  const read = value === '' ? undefined : parseSourceUrl(value);
  return typeof read === 'string' ? read : undefined;
}
