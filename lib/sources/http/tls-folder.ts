import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type CredentialSource, openCredentials } from './http-credentials.ts';

/** As a Secret of type `kubernetes.io/tls` has them. */
const FILES = { caFile: 'ca.crt', certFile: 'tls.crt', keyFile: 'tls.key' } as const;

/**
 * Opens a folder in which a Secret is mounted: `ca.crt` has the authorities that vouch for a server, in place of the
 * system's; `tls.crt` and `tls.key` are what it is shown. Either may be missing; they are read again as they rotate.
 *
 * @throws when there is nothing of it, or it cannot be used, naming the folder or file
 */
export async function openTlsFolder(
  folder: string,
  environment: { readonly clock: Clock; readonly logger: Logger },
): Promise<CredentialSource & AsyncDisposable> {
  if (!(await isThere(folder))) throw new Error(`${folder} does not exist, or may not be read`);
  const files: Partial<Record<keyof typeof FILES, string>> = {};
  for (const [name, file] of Object.entries(FILES) as [keyof typeof FILES, string][])
    if (await isThere(join(folder, file))) files[name] = join(folder, file);
  if (Object.keys(files).length === 0)
    throw new Error(`${folder} must have ca.crt, or tls.crt and tls.key, or all of them`);
  if (Boolean(files.certFile) !== Boolean(files.keyFile))
    throw new Error(`${folder} must have both of tls.crt and tls.key, or none`);
  return await openCredentials(files, environment);
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
