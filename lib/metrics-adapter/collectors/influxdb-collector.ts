import { z } from 'zod';
import type { HttpClients } from '#lib/sources/http/http-clients.ts';
import { fixedCredentials } from '#lib/sources/http/http-credentials.ts';
import { InfluxdbServer } from '#lib/sources/http-apis/influxdb-server.ts';
import type { Query } from '#lib/sources/query.ts';
import { nameOfMetric } from '../collected-metrics.ts';
import {
  type CollectorRequest,
  type MetricCollector,
  type ReadSettings,
  readSettings,
  sourceUrl,
  text,
} from './metric-collector.ts';

/** Credentials of a metric; the administrator's are the defaults. */
export interface InfluxdbAccount {
  readonly organization: string | undefined;
  readonly token: string | undefined;
}

interface InfluxdbCollectorOptions {
  /** The server of the flags, for metrics without a server. */
  readonly server: ((own: InfluxdbAccount) => InfluxdbServer) | undefined;
  /** Clients for servers in annotations, with the credentials of these alone. */
  readonly clients: HttpClients;
}

const TOKEN = /^[\x21-\x7e]{1,1024}$/;
/** In order of precedence, kube-metrics-adapter's name first. */
const VALUE_COLUMNS = ['metricvalue', '_value'];

const settings = z.object({
  query: text
    .optional()
    .describe('Query in Flux. The value is in the column `metricvalue` or `_value` of the first row.'),
  'query-name': text
    .optional()
    .describe('Name of another setting, which contains the query; used instead of `query`.'),
  address: sourceUrl
    .optional()
    .describe('URL of another server than that of `--influxdb-address`; requires `token` and `org`.'),
  token: z
    .string()
    .regex(TOKEN, { error: 'must be one word of printable ASCII' })
    .optional()
    .describe(
      'Token for the server at `address`. The token of `--influxdb-token` is not sent to this server.',
    ),
  org: text.optional().describe('Name of the organization in InfluxDB.'),
});

/** Flux queries, for an External metric. */
export function influxdbCollector(options: InfluxdbCollectorOptions): MetricCollector {
  return {
    name: 'influxdb',
    legacyMetrics: ['flux-query'],
    types: ['External'],
    settings,
    takesAlso: (name, all) => name === all.get('query-name')?.value,
    queryOf(request): Query {
      const read = readSettings(settings, request);
      return serverOf(read, options).query(queryIn(read, request), { valueColumns: VALUE_COLUMNS });
    },
  };
}

type Settings = ReadSettings<typeof settings>;

function queryIn({ values, place, all }: Settings, { metric }: CollectorRequest): string {
  const { query, 'query-name': name } = values;
  const flux = query ?? (name === undefined ? undefined : all.get(name)?.value);
  if (flux !== undefined && flux.trim() !== '') return flux;
  const subject = `metric ${nameOfMetric(metric)}`;
  if (name === undefined)
    throw new Error(`Metric ${nameOfMetric(metric)} has neither the setting "query" nor "query-name"`);
  throw new Error(`${place('query-name')} is invalid: ${subject} has no setting ${JSON.stringify(name)}`);
}

function serverOf(
  { values, place }: Settings,
  { server, clients }: InfluxdbCollectorOptions,
): InfluxdbServer {
  const { address, token, org } = values;
  if (!address) {
    if (server) return server({ organization: org, token });
    throw new Error(
      'No InfluxDB server to query: neither the flag --influxdb-address nor the setting "address" is set',
    );
  }
  if (token === undefined || org === undefined)
    throw new Error(`${place('address')} requires the settings "token" and "org"`);
  const credentials = fixedCredentials({ authorization: `Token ${token}` });
  return new InfluxdbServer({ http: clients.find({ credentials }), url: address.url, org });
}
