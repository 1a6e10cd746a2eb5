import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { ReloadingFiles } from '#lib/kubernetes/access/reloading-files.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { SourceTls } from '../network/tls.ts';
import { Secrets } from '../secrets.ts';

/** Credentials for a server, at one time. */
export interface HttpCredentials extends SourceTls {
  /** The value of the Authorization header. */
  readonly authorization?: string | undefined;
}

/** Credentials that may change at run time. */
export interface CredentialSource {
  /** The same object until the credentials change. */
  readonly current: HttpCredentials;
  /** Identifies the credentials in keys; contains no secret. */
  readonly name: string;
}

/** Paths of credential files. */
interface CredentialFiles {
  readonly tokenFile?: string | undefined;
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
}

/** Excludes characters that could end the header. */
const TOKEN = /^[\x21-\x7e]+$/;

export const NO_CREDENTIALS: CredentialSource = { name: '', current: {} };

/** Creates credentials that never change. */
export function fixedCredentials(current: HttpCredentials): CredentialSource {
  const { authorization, ca, cert, key, isUnverified } = current;
  const text = JSON.stringify([authorization, ca, cert, key, isUnverified]);
  return { current, name: `sha256:${createHash('sha256').update(text).digest('hex').slice(0, 16)}` };
}

/**
 * Opens credential files, and reads them again when they change.
 *
 * @throws an Error that names the file if it is not readable or invalid
 */
export async function openCredentials(
  files: CredentialFiles,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<CredentialSource & AsyncDisposable> {
  const { tokenFile, caFile, certFile, keyFile } = files;
  if (Boolean(certFile) !== Boolean(keyFile))
    throw new Error('A client certificate and its key must be set together');
  const named = Object.entries({ token: tokenFile, ca: caFile, cert: certFile, key: keyFile }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  const paths = named.map(([, path]) => path);
  const read = (texts: readonly string[]) =>
    parseCredentials(Object.fromEntries(named.map(([what], index) => [what, texts[index] ?? ''])));
  const reloading = await ReloadingFiles.open({ what: 'the credentials', paths, read, clock, logger });
  return {
    name: JSON.stringify(named),
    get current() {
      return reloading.current;
    },
    [Symbol.asyncDispose]: () => reloading[Symbol.asyncDispose](),
  };
}

function parseCredentials({ token, ca, cert, key }: Readonly<Record<string, string>>): HttpCredentials {
  if (ca !== undefined) parseCertificate('CA certificate', ca);
  // During rotation, one file may be new and the other old.
  if (cert !== undefined && !parseCertificate('client certificate', cert).checkPrivateKey(parseKey(key)))
    throw new Error('the client certificate and the key do not match');
  if (token === undefined) return { ca, cert, key };
  const trimmed = token.trim();
  if (!TOKEN.test(trimmed)) throw new Error('the token must be one word of printable ASCII');
  return { authorization: `Bearer ${trimmed}`, ca, cert, key };
}

function parseCertificate(what: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new Error(`the ${what} must be in PEM`);
  }
}

function parseKey(pem = '') {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Error('the key must be a private key in PEM, without a passphrase');
  }
}

/** Merges credentials, such as a token and certificates from different sources; `undefined` if there are none. */
export function joinCredentials(
  ...sources: readonly (CredentialSource | undefined)[]
): CredentialSource | undefined {
  const given = sources.filter((source) => source !== undefined);
  if (given.length < 2) return given[0];
  let joined: { readonly of: readonly HttpCredentials[]; readonly credentials: HttpCredentials } | undefined;
  return {
    name: JSON.stringify(given.map(({ name }) => name)),
    get current() {
      const of = given.map(({ current }) => current);
      if (!joined || of.some((one, index) => one !== joined?.of[index]))
        joined = { of, credentials: Object.assign({}, ...of.map(omitUndefined)) };
      return joined.credentials;
    },
  };
}

function omitUndefined(credentials: HttpCredentials): HttpCredentials {
  return Object.fromEntries(Object.entries(credentials).filter(([, value]) => value !== undefined));
}

/** Returns the token; for basic authentication the encoded and plain forms of the login, and the password. */
export function collectSecrets({ authorization = '' }: HttpCredentials): Secrets {
  const [scheme = '', word] = authorization.split(' ');
  if (scheme !== 'Basic') return new Secrets([word]);
  const login = Buffer.from(word ?? '', 'base64').toString();
  return new Secrets([word, login, login.slice(login.indexOf(':') + 1)]);
}

/** The keys of a Secret of type `kubernetes.io/tls`. */
const FILES = { caFile: 'ca.crt', certFile: 'tls.crt', keyFile: 'tls.key' } as const;

/**
 * Opens the folder of a mounted Secret: `ca.crt` has the authorities of the server, instead of the system's; `tls.crt`
 * and `tls.key` are the client certificate. Either may be missing. The files are read again when they change.
 *
 * @throws an Error that names the folder or file if there is no file, or one is invalid
 */
export async function openTlsFolder(
  folder: string,
  environment: { readonly clock: Clock; readonly logger: Logger },
): Promise<CredentialSource & AsyncDisposable> {
  if (!(await exists(folder))) throw new Error(`${folder} does not exist or is not readable`);
  const files: Partial<Record<keyof typeof FILES, string>> = {};
  for (const [name, file] of Object.entries(FILES) as [keyof typeof FILES, string][])
    if (await exists(join(folder, file))) files[name] = join(folder, file);
  if (Object.keys(files).length === 0)
    throw new Error(`${folder} must have ca.crt, or tls.crt and tls.key, or all three`);
  if (Boolean(files.certFile) !== Boolean(files.keyFile))
    throw new Error(`${folder} must have both tls.crt and tls.key, or neither`);
  return await openCredentials(files, environment);
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
