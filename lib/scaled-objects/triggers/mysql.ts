import { z } from 'zod';
import { sqlQuery } from '#lib/sources/sql/sql-database.ts';
import { type ConnectionText, parseMysqlConnection } from './parameters/connection-text.ts';
import { float, METADATA, type Place, parameter, text } from './parameters/parameter.ts';
import { parametersOf } from './parameters/read-parameters.ts';
import { openDatabases, type SqlTriggerOptions } from './postgresql.ts';
import { above, oneMetric, type Trigger } from './trigger.ts';
import type { TriggerEnvironment } from './trigger-environment.ts';

const SECRET: readonly Place[] = ['authentication', 'environment'];
const PLACE: readonly Place[] = ['metadata', 'authentication'];

const parameters = z.object({
  connectionString: parameter(text.optional(), {
    from: SECRET,
    description:
      '`user:password@tcp(host:3306)/database`; if set, the following five parameters are not used.',
  }),
  username: parameter(text.optional(), {
    from: ['metadata', 'authentication', 'environment'],
    description: 'User name.',
  }),
  password: parameter(text.optional(), { from: SECRET, description: 'Password.' }),
  host: parameter(text.optional(), { from: PLACE, description: 'Host name of the server.' }),
  port: parameter(text.optional(), { from: PLACE, description: 'Port of the server. By default 3306.' }),
  dbName: parameter(text.optional(), { from: PLACE, description: 'Name of the database.' }),
  query: parameter(text, {
    from: METADATA,
    description: 'SQL statement, whose result has the value in the first column of the first row.',
  }),
  queryValue: parameter(float, { from: METADATA, description: 'Target value per replica.' }),
  activationQueryValue: parameter(float.default(0), {
    from: METADATA,
    description: 'The trigger is active above this value.',
    default: '0',
  }),
  metricName: parameter(text.optional(), {
    from: METADATA,
    description: 'Ignored.',
    isUnsupported: true,
  }),
});

const PORT = '3306';

export function openMysqlTrigger(environment: TriggerEnvironment): Trigger {
  return mysqlTrigger({ ...environment, databases: environment.open(openDatabases) });
}

/** The result of a MySQL or MariaDB statement. */
export function mysqlTrigger({ databases, allowedHosts, findAddresses, share }: SqlTriggerOptions): Trigger {
  return {
    types: ['mysql'],
    scalerName: () => 'mySQLScaler',
    description: 'The result of a statement in MySQL or MariaDB.',
    parameters,
    plan(request) {
      const given = parametersOf(parameters, request);
      const { connectionString, dbName = '' } = given;
      const connection = connectionString ? parseMysqlConnection(connectionString) : partsOf(given);
      const { host = '', port = Number(PORT), user = '', password = '', database = '' } = connection;
      const source = databases.for({
        ...{ system: 'mysql', host, port, user, password, database, tls: undefined },
        ...{ allowedHosts, findAddresses, share },
      });
      const query = sqlQuery(source, { text: given.query, error: 'error inspecting MySQL' });
      const name = `mysql-${connectionString ? database : dbName}`;
      return oneMetric({
        name,
        query,
        target: given.queryValue,
        evaluate: above(given.activationQueryValue),
      });
    },
  };
}

function partsOf({
  host,
  port = PORT,
  username,
  password,
  dbName,
}: z.output<typeof parameters>): ConnectionText {
  if (host === undefined) throw new Error('no host given');
  if (!/^\d{1,5}$/.test(port.trim())) throw new Error('unable to set param "port": not a whole number');
  return { host: host.trim(), port: Number(port), user: username, password, database: dbName };
}
