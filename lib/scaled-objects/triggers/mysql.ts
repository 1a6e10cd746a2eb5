import { z } from 'zod';
import { sqlQuery } from '#lib/sources/sql/sql-database.ts';
import { type ConnectionText, parseMysqlConnection } from './parameters/connection-text.ts';
import { float, type Place, parameter, text } from './parameters/parameter.ts';
import { openDatabases } from './postgresql.ts';
import { above, defineTrigger, oneMetric, type Trigger } from './trigger.ts';
import type { TriggerEnvironment } from './trigger-environment.ts';

const SECRET: readonly Place[] = ['authentication', 'environment'];
const PLACE: readonly Place[] = ['metadata', 'authentication'];

const parameters = z.object({
  connectionString: parameter(
    text.optional(),
    '`user:password@tcp(host:3306)/database`; if set, the following five parameters are not used.',
    { from: SECRET },
  ),
  username: parameter(text.optional(), 'User name.', { from: ['metadata', 'authentication', 'environment'] }),
  password: parameter(text.optional(), 'Password.', { from: SECRET }),
  host: parameter(text.optional(), 'Host name of the server; required without connectionString.', {
    from: PLACE,
  }),
  port: parameter(text.optional(), 'Port of the server. By default 3306.', { from: PLACE }),
  dbName: parameter(text.optional(), 'Name of the database.', { from: PLACE }),
  query: parameter(text, 'SQL statement, whose result has the value in the first column of the first row.'),
  queryValue: parameter(float, 'Target value per replica.'),
  activationQueryValue: parameter(float.default(0), 'The trigger is active above this value.'),
  metricName: parameter(text.optional(), 'Ignored.', { isUnsupported: true }),
});

const PORT = '3306';

/** The result of a MySQL or MariaDB statement. */
export function mysqlTrigger({ open }: Pick<TriggerEnvironment, 'open'>): Trigger {
  const databases = open(openDatabases);
  return defineTrigger({
    types: ['mysql'],
    scalerName: () => 'mySQLScaler',
    description: 'The result of a statement in MySQL or MariaDB.',
    parameters,
    plan(given) {
      const { connectionString, dbName = '' } = given;
      const connection = connectionString ? parseMysqlConnection(connectionString) : partsOf(given);
      const { host = '', port = Number(PORT), user = '', password = '', database = '' } = connection;
      const source = databases.for({
        ...{ system: 'mysql', host, port, user, password, database, tls: undefined },
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
  });
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
