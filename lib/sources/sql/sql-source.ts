import { ReloadingFiles } from '#lib/kubernetes/access/reloading-files.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { AllowedHosts, type FindAddresses } from '../network/allowed-hosts.ts';
import { type Query, shorten } from '../query.ts';
import { readSqlSource } from './read-sql-source.ts';
import { SqlDatabase } from './sql-database.ts';
import { MAX_CONNECTIONS } from './sql-pool.ts';

/** A database that an administrator names by a file, which may change under a running program. */
export interface SqlSource extends AsyncDisposable {
  /** Whether those of a namespace may ask it. */
  allows(namespace: string): boolean;
  query(text: string): Query;
  /** Calls a listener after each change of the file. */
  onChange(listener: () => void): void;
}

/** An administrator's database may be anywhere, on this machine, too. */
const EVERYWHERE = ['*', '0.0.0.0/0', '::/0'];

/** @throws when the file cannot be read or used, naming it */
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
      mostAtOnce: MAX_CONNECTIONS,
      ask: (signal) => current.database.query(text).ask(signal),
    }),
    onChange: (listener) => files.onChange(listener),
    async [Symbol.asyncDispose]() {
      await files[Symbol.asyncDispose]();
      current.database[Symbol.dispose]();
    },
  };
}
