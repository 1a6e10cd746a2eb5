import { z } from 'zod';
import { SqlDatabases, sqlQuery } from '#lib/sources/sql/sql-database.ts';
import { type ConnectionText, parsePostgresConnection } from './parameters/connection-text.ts';
import { float, type Place, parameter, text } from './parameters/parameter.ts';
import { above, defineTrigger, neededTarget, oneMetric, REQUIRED_TARGET, type Trigger } from './trigger.ts';
import type { TriggerEnvironment } from './trigger-environment.ts';

const SECRET: readonly Place[] = ['authentication', 'environment'];
const PLACE: readonly Place[] = ['authentication', 'metadata'];
const part = (description: string) => parameter(text.optional(), description, { from: PLACE });

const parameters = z.object({
  query: parameter(text, 'SQL statement, whose result has the value in the first column of the first row.'),
  targetQueryValue: parameter(float.optional(), `Target value per replica; ${REQUIRED_TARGET}.`),
  activationTargetQueryValue: parameter(float.default(0), 'The trigger is active above this value.'),
  connection: parameter(
    text.optional(),
    'URL, or `host=a port=5432 user=…`; if set, the following parameters are not used. Otherwise, all of them except password are required.',
    { from: SECRET },
  ),
  host: part('Host name of the server.'),
  port: part('Port of the server.'),
  userName: part('User name.'),
  dbName: part('Name of the database.'),
  sslmode: part(
    'Whether to use TLS: disable, allow and prefer do not use it, require does not verify the certificate of the server, and verify-ca and verify-full verify it.',
  ),
  password: parameter(text.optional(), 'Password.', { from: SECRET }),
});

const PORT = 5432;
/** Values of `sslmode` without TLS. Unlike libpq, `allow` and `prefer` never use it. */
const PLAIN = ['disable', 'allow', 'prefer'];
const UNVERIFIED = ['require'];

/** Shared by both SQL triggers, with one limit of connections. */
export const openDatabases = (environment: TriggerEnvironment) => new SqlDatabases(environment);

/** The result of a PostgreSQL statement. */
export function postgresqlTrigger({ open }: Pick<TriggerEnvironment, 'open'>): Trigger {
  const databases = open(openDatabases);
  return defineTrigger({
    types: ['postgresql'],
    scalerName: () => 'postgreSQLScaler',
    description: 'The result of a statement in PostgreSQL.',
    parameters,
    plan(given, request) {
      const target = neededTarget(given.targetQueryValue, request, 'no targetQueryValue given');
      const connection = given.connection ? parsePostgresConnection(given.connection) : partsOf(given);
      const {
        host = '',
        port = PORT,
        user = '',
        password = '',
        database = '',
        sslmode = 'prefer',
      } = connection;
      const source = databases.for({
        ...{ system: 'postgres', host, port, user, password, database: database || user },
        tls: PLAIN.includes(sslmode) ? undefined : { isUnverified: UNVERIFIED.includes(sslmode) },
      });
      const query = sqlQuery(source, {
        text: given.query,
        error: 'error inspecting postgreSQL: could not query postgreSQL',
      });
      return oneMetric({
        name: 'postgresql',
        query,
        target,
        evaluate: above(given.activationTargetQueryValue),
      });
    },
  });
}

function partsOf(given: z.output<typeof parameters>): ConnectionText {
  const need = (name: 'host' | 'port' | 'userName' | 'dbName' | 'sslmode', what: string) => {
    const value = given[name];
    if (value === undefined) throw new Error(`no ${what} given`);
    return value.trim();
  };
  const host = need('host', 'host');
  const port = Number(need('port', 'port'));
  if (!Number.isInteger(port)) throw new Error('unable to set param "port": not a whole number');
  const user = need('userName', 'username');
  const database = need('dbName', 'dbname');
  return { host, port, user, database, sslmode: need('sslmode', 'sslmode'), password: given.password };
}
