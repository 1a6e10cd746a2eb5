import { z } from 'zod';
import { ReloadingFiles } from '#lib/kubernetes/access/reloading-files.ts';
import { readYaml } from '#lib/kubernetes/read-yaml.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { AllowedHosts, type FindAddresses, type NetworkOptions } from '../network/allowed-hosts.ts';
import { type Query, shorten } from '../query.ts';
import type { DatabaseOptions, SqlSystem } from './sql-connection.ts';
import { SqlDatabase } from './sql-database.ts';
import { MAX_CONNECTIONS } from './sql-pool.ts';

/** A database that an administrator configures by a file, which may change at run time. */
export interface SqlSource extends AsyncDisposable {
  /** Whether a namespace may query it. */
  allows(namespace: string): boolean;
  query(text: string): Query;
  /** Calls a listener after each change of the file. */
  onChange(listener: () => void): void;
}

/** Databases of administrators may have any address, including loopback. */
const EVERYWHERE = ['*', '0.0.0.0/0', '::/0'];

/** @throws an Error that names the file if it is not readable or invalid */
export async function openSqlSource(
  { name, path }: { readonly name: string; readonly path: string },
  environment: {
    readonly clock: Clock;
    readonly logger: Logger;
    readonly findAddresses: FindAddresses | undefined;
  },
): Promise<SqlSource> {
  const sourceIn = (text: string) => {
    const { database, namespaces } = readSqlSource(text);
    const network = { allowedHosts: new AllowedHosts(EVERYWHERE), findAddresses: environment.findAddresses };
    return {
      database: new SqlDatabase({ ...database, ...network }, environment),
      namespaces: namespaces && new Set(namespaces),
    };
  };
  const files = await ReloadingFiles.open({
    what: `SQL source ${name}`,
    paths: [path],
    read: ([text = '']) => sourceIn(text),
    ...environment,
  });
  let current = files.current;
  files.onChange((next) => {
    current.database[Symbol.dispose]();
    current = next;
  });
  return {
    allows: (namespace) => current.namespaces?.has(namespace) ?? true,
    query: (text) => ({
      key: JSON.stringify(['sql source', name, text]),
      description: `${shorten(text)} of SQL source ${name}`,
      source: name,
      maxConcurrent: MAX_CONNECTIONS,
      run: (signal) => current.database.query(text).run(signal),
    }),
    onChange: (listener) => files.onChange(listener),
    async [Symbol.asyncDispose]() {
      await files[Symbol.asyncDispose]();
      current.database[Symbol.dispose]();
    },
  };
}

/** The content of a file. */
interface SqlSourceFile {
  readonly database: Omit<DatabaseOptions, keyof NetworkOptions>;
  /** Namespaces whose HPAs may query it; `undefined` for all. */
  readonly namespaces: readonly string[] | undefined;
}

const MAX_LENGTH = 256 * 1024;
const SYSTEMS: Readonly<Record<string, { readonly system: SqlSystem; readonly port: number }>> = {
  mysql: { system: 'mysql', port: 3306 },
  mariadb: { system: 'mysql', port: 3306 },
  postgres: { system: 'postgres', port: 5432 },
  postgresql: { system: 'postgres', port: 5432 },
};

const MAX_NAMESPACES = 1_000;
const NAMESPACE = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Unknown keys in an error. */
const MAX_LISTED_KEYS = 10;

const TLS = z.strictObject({
  ca: z.string().optional(),
  cert: z.string().optional(),
  key: z.string().optional(),
  insecureSkipVerify: z.boolean().optional(),
});
const schema = z.strictObject({
  system: z.enum(['mysql', 'mariadb', 'postgres', 'postgresql']),
  host: z.string().regex(/^[A-Za-z0-9._:-]{1,253}$/, { error: 'must be a host name or an IP address' }),
  port: z.int().min(1).max(65_535).optional(),
  user: z.string().min(1),
  password: z.string().optional(),
  database: z.string().min(1),
  namespaces: z
    .array(z.string().regex(NAMESPACE, { error: 'must be the name of a namespace' }))
    .min(1)
    .max(MAX_NAMESPACES)
    .optional(),
  tls: TLS.optional(),
});

/**
 * Parses the YAML or JSON of a database file.
 *
 * @throws an Error that names the invalid key, without its value
 */
export function readSqlSource(text: string): SqlSourceFile {
  if (text.length > MAX_LENGTH) throw new Error(`the file must be no longer than ${MAX_LENGTH} characters`);
  const read = schema.safeParse(parseYaml(text));
  if (!read.success) {
    const [issue] = read.error.issues;
    if (issue?.code === 'unrecognized_keys') {
      const keys = issue.keys
        .slice(0, MAX_LISTED_KEYS)
        .map((key) => [...issue.path, key.slice(0, 100)].join('.'));
      const allowed = Object.keys(issue.path.length > 0 ? TLS.shape : schema.shape).join(', ');
      throw new Error(`unknown keys ${keys.join(', ')}; the keys are ${allowed}`);
    }
    throw new Error(`${issue?.path.join('.') || 'the file'} is invalid: ${issue?.message}`);
  }
  const { system: name, port, password = '', tls, namespaces, ...named } = read.data;
  const { system, port: defaultPort } = SYSTEMS[name] ?? { system: 'mysql', port: 0 };
  if (Boolean(tls?.cert) !== Boolean(tls?.key)) throw new Error('tls.cert and tls.key must be set together');
  const { ca, cert, key, insecureSkipVerify: isUnverified } = tls ?? {};
  return {
    namespaces,
    database: {
      ...{ ...named, system, port: port ?? defaultPort, password },
      tls: tls && { ca, cert, key, isUnverified },
    },
  };
}

function parseYaml(text: string): unknown {
  try {
    return readYaml(text);
  } catch {
    throw new Error('the file must be YAML without aliases'); // without its lines, which contain secrets
  }
}
