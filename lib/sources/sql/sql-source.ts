import { ReloadingFiles } from '#lib/kubernetes/access/reloading-files.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { AllowedHosts } from '../http/allowed-hosts.ts';
import { shorten } from '../http/shorten.ts';
import type { Query } from '../query.ts';
import { readSqlSource } from './read-sql-source.ts';
import { SqlDatabase } from './sql-database.ts';

/** A database that an administrator names by a file, which may change under a running program. */
export interface SqlSource extends AsyncDisposable {
  query(text: string): Query;
}

/** An administrator's database may be anywhere, on this machine, too. */
const EVERYWHERE = ['*', '0.0.0.0/0', '::/0'];

/** @throws when the file cannot be read or used, naming it */
export async function openSqlSource(
  { name, path }: { readonly name: string; readonly path: string },
  environment: { readonly clock: Clock; readonly logger: Logger },
): Promise<SqlSource> {
  const databaseIn = (text: string) =>
    new SqlDatabase({ ...readSqlSource(text), allowedHosts: new AllowedHosts(EVERYWHERE) }, environment);
  const files = await ReloadingFiles.open({
    what: `SQL source ${name}`,
    paths: [path],
    read: ([text = '']) => databaseIn(text),
    ...environment,
  });
  let current = files.current;
  files.onChange((next) => {
    current[Symbol.dispose]();
    current = next;
  });
  return {
    query: (text) => ({
      key: JSON.stringify(['sql source', name, text]),
      description: `${shorten(text)} of SQL source ${name}`,
      ask: (signal) => current.query(text).ask(signal),
    }),
    async [Symbol.asyncDispose]() {
      await files[Symbol.asyncDispose]();
      current[Symbol.dispose]();
    },
  };
}
