import { boolean, flag, namedTexts, repeatedText, text, texts } from '#lib/flags/flag.ts';
import { parseSourceUrl } from '#lib/sources/http/source-url.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';

/** It may have a user and a password. */
const url = { default: '', validate: ruleBrokenByUrl, mayContainSecret: true };

/** Which systems are asked for metrics, by the names that kube-metrics-adapter has. */
export const metricsSourceFlags = {
  prometheusServer: flag('prometheus-server', text, {
    ...url,
    description:
      'URL of the Prometheus server that is asked where an HPA names no other, for what Skipper counts, too.',
  }),
  prometheusServerTokenFile: flag('prometheus-server-token-file', text, {
    default: '',
    description: 'File with a bearer token for it; read again as it changes.',
  }),
  additionalPrometheusServer: flag('additional-prometheus-server', namedTexts, {
    default: [],
    description:
      'Another Prometheus server, as NAME=URL, for HPAs that say prometheus-server-alias; NAME=URL,NAME=URL for several.',
    validate: (entries) => firstBroken(entries, 'NAME=URL', ruleBrokenByUrl),
    mayContainSecret: true,
  }),
  additionalPrometheusServerTokenFile: flag('additional-prometheus-server-token-file', namedTexts, {
    default: [],
    description: 'File with a bearer token for one of these, as NAME=PATH; read again as it changes.',
    validate: (entries) => firstBroken(entries, 'NAME=PATH', () => undefined),
  }),
  sourceTls: flag('source-tls', repeatedText, {
    default: [],
    description:
      'Folder for TLS with a source that these flags name, as NAME=FOLDER of prometheus, prometheus/NAME for an additional one, influxdb, ' +
      'zmon or nakadi: ca.crt has the authorities that vouch for it, tls.crt and tls.key are what it is shown; read again as they change.',
    validate: (entries) => firstBroken(entries, 'NAME=FOLDER', () => undefined),
  }),
  sqlSources: flag('sql-source', repeatedText, {
    default: [],
    description:
      'A database that HPAs may have asked by SQL, as NAME=FILE; the file, read again as it changes, has its system, host, port, user, password, database and tls.',
    validate: (entries) => firstBroken(entries, 'NAME=FILE', () => undefined),
  }),
  skipperIngressMetrics: flag('skipper-ingress-metrics', boolean, {
    default: false,
    description: 'Collect requests per second of Ingresses behind Skipper.',
  }),
  skipperRouteGroupMetrics: flag('skipper-routegroup-metrics', boolean, {
    default: false,
    description: 'Collect requests per second of RouteGroups behind Skipper.',
  }),
  skipperBackendsAnnotations: flag('skipper-backends-annotation', repeatedText, {
    default: [],
    description: 'An annotation of Ingresses that says which share of the requests each backend gets.',
  }),
  externalRpsMetrics: flag('external-rps-metrics', boolean, {
    default: false,
    description: 'Collect requests per second of host names, by the metric type requests-per-second.',
  }),
  externalRpsMetricName: flag('external-rps-metric-name', text, {
    default: 'skipper_serve_host_duration_seconds_count',
    description: 'The series of Prometheus that counts requests by host.',
  }),
  influxdbAddress: flag('influxdb-address', text, {
    ...url,
    description: 'URL of the InfluxDB server that is asked where an HPA names no other.',
  }),
  influxdbToken: flag('influxdb-token', text, { default: '', description: 'Its token.' }),
  influxdbOrg: flag('influxdb-org', text, { default: '', description: 'Its organization.' }),
  zmonEndpoint: flag('zmon-kariosdb-endpoint', text, {
    ...url,
    description: 'URL of the KairosDB that has the data of ZMON.',
  }),
  zmonTokenName: flag('zmon-token-name', text, {
    default: 'zmon',
    description: 'Name of the token for it in --credentials-dir.',
  }),
  nakadiEndpoint: flag('nakadi-endpoint', text, { ...url, description: 'URL of Nakadi.' }),
  nakadiTokenName: flag('nakadi-token-name', text, {
    default: 'nakadi',
    description: 'Name of the token for it in --credentials-dir.',
  }),
  token: flag('token', text, {
    default: '',
    description: 'OAuth2 token for ZMON and Nakadi, in place of those in --credentials-dir.',
  }),
  credentialsDir: flag('credentials-dir', text, {
    default: '/meta/credentials',
    description: 'Folder of tokens, in files NAME-token-secret and NAME-token-type.',
  }),
  awsExternalMetrics: flag('aws-external-metrics', boolean, {
    default: false,
    description: 'Collect the lengths of SQS queues.',
  }),
  awsRegions: flag('aws-region', texts, { default: [], description: 'A region whose queues may be asked.' }),
  allowedHosts: flag('allowed-hosts', texts, {
    default: [],
    description:
      'Which hosts HPAs may have asked: names, *.suffix, addresses and CIDRs. By default any; loopback, link-local, ' +
      'multicast and metadata addresses only where an address or CIDR names them.',
    validate: ruleBrokenByHosts,
  }),
};

/** The rule that a list of hosts breaks. */
export function ruleBrokenByHosts(entries: readonly string[]): string | undefined {
  const wrong = entries.find((entry) => !AllowedHosts.isEntry(entry));
  return wrong === undefined
    ? undefined
    : `${JSON.stringify(wrong)} must be a host name, *.suffix, IP address or CIDR`;
}

/** Splits `NAME=VALUE`; `undefined` for what is none. */
export function splitEntry(entry: string): readonly [name: string, value: string] | undefined {
  const equals = entry.indexOf('=');
  return equals < 1 || equals === entry.length - 1
    ? undefined
    : [entry.slice(0, equals), entry.slice(equals + 1)];
}

/** The rule that the first wrong one of entries breaks. */
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
