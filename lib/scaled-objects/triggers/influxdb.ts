import { z } from 'zod';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { fixedCredentials } from '#lib/sources/http/http-credentials.ts';
import { parseSourceUrl } from '#lib/sources/http/source-url.ts';
import { InfluxdbServer } from '#lib/sources/http-apis/influxdb-server.ts';
import { influxdb3Value } from '#lib/sources/http-apis/influxdb3-server.ts';
import type { Query } from '#lib/sources/query.ts';
import { float, oneOf, type Place, parameter, text, UNSAFE_SSL } from './parameters/parameter.ts';
import { above, defineTrigger, neededTarget, oneMetric, REQUIRED_TARGET, type Trigger } from './trigger.ts';
import type { TriggerClients } from './trigger-clients.ts';

const PLACE: readonly Place[] = ['metadata', 'authentication'];

const parameters = z.object({
  serverURL: parameter(text, 'URL of the server.', { from: PLACE }),
  query: parameter(
    text,
    'Query. For version 2, it is in Flux, and the value is in the first row. For version 3, it is in the language that queryType names, and the value is in the last row.',
  ),
  influxVersion: parameter(oneOf('2', '3').default('2'), 'Version of the server: 2 or 3.'),
  organizationName: parameter(text.optional(), 'Name of the organization; required for version 2.', {
    from: ['metadata', 'environment', 'authentication'],
  }),
  authToken: parameter(text.optional(), 'Authentication token.', { from: ['environment', 'authentication'] }),
  database: parameter(text.optional(), 'Name of the database; required for version 3.', { from: PLACE }),
  metricKey: parameter(text.optional(), 'Column that contains the value; required for version 3.'),
  queryType: parameter(
    text.default('InfluxQL'),
    'Language of the query for version 3: InfluxQL, or FlightSQL for SQL.',
  ),
  thresholdValue: parameter(float.optional(), `Target value per replica; ${REQUIRED_TARGET}.`),
  activationThresholdValue: parameter(float.default(0), 'The trigger is active above this value.'),
  unsafeSsl: UNSAFE_SSL,
});

const LANGUAGES: Readonly<Record<string, 'influxql' | 'sql'>> = { influxql: 'influxql', flightsql: 'sql' };

/** The result of an InfluxDB query. */
export function influxdbTrigger({ clients }: { readonly clients: TriggerClients }): Trigger {
  return defineTrigger({
    types: ['influxdb'],
    scalerName: () => 'influxDBScaler',
    description: 'The result of a query of InfluxDB 2 or 3.',
    parameters,
    plan(given, request) {
      if (Object.hasOwn(request.metadata, 'authToken'))
        throw new Error('authToken must not be set in the metadata of the trigger');
      const read = parseSourceUrl(given.serverURL);
      if (typeof read === 'string') throw new Error(`parameter "serverURL" ${read}`);
      const { authToken, unsafeSsl: isUnverified } = given;
      const authorization = authToken === undefined ? undefined : `Token ${authToken.trim()}`;
      const http = clients.for(
        fixedCredentials({ authorization, ...(isUnverified && { isUnverified }) }),
        request,
      );
      const need = (name: 'organizationName' | 'database' | 'metricKey') => {
        const value = given[name];
        if (value === undefined) throw new Error(`missing required parameter "${name}"`);
        return value.trim();
      };
      const target = neededTarget(given.thresholdValue, request, 'no threshold value given');
      const evaluate = above(given.activationThresholdValue);
      if (given.influxVersion === '2') {
        const org = need('organizationName');
        const query = firstOf(new InfluxdbServer({ http, url: read.url, org }).query(given.query));
        return oneMetric({ name: `influxdb-${org}`, query, target, evaluate });
      }
      const language = getOwn(LANGUAGES, given.queryType.trim().toLowerCase());
      if (!language)
        throw new Error(
          `parameter "queryType" value "${given.queryType.slice(0, 100)}" must be one of [InfluxQL FlightSQL]`,
        );
      const [database, column] = [need('database'), need('metricKey')];
      const query = influxdb3Value({ http, url: read.url, database, language, text: given.query, column });
      return oneMetric({ name: `influxdb-${database}`, query, target, evaluate });
    },
  });
}

/** Reduces a query to its first row. */
function firstOf(query: Query): Query {
  return {
    ...query,
    key: JSON.stringify(['first', query.key]),
    run: async (signal) => (await query.run(signal)).slice(0, 1).map(({ value }) => ({ value, labels: {} })),
  };
}
