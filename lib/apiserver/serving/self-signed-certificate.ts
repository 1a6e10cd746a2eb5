import { createPrivateKey, generateKeyPair, type KeyObject, randomUUID, X509Certificate } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, opendir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf, describeError } from '#lib/telemetry/error-text.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';

/** A certificate chain and the key of its first certificate, both PEM. */
export interface KeyAndCertificate {
  readonly cert: string;
  readonly key: string;
}

const HOUR_MS = 3_600_000;
const VALIDITY_MS = 365 * 24 * HOUR_MS;

/**
 * Makes a certificate for `localhost`, signed by a new authority whose key is discarded, as Kubernetes' servers do
 * without a configured certificate: valid for a year from an hour ago.
 *
 * The keys are on P-256, which signs a handshake in a tenth of RSA's time.
 */
export async function makeSelfSignedCertificate(nowMs: number): Promise<KeyAndCertificate> {
  // Loaded only to make a certificate: bundled, it takes 7 MB.
  const { authorityExtensions, serverExtensions, signCertificate } = await import('./x509-certificate.ts');
  const stamp = Math.floor(nowMs / 1000);
  const [authority, server] = await Promise.all([makeKeys(), makeKeys()]);
  const shared = {
    issuer: `localhost-ca@${stamp}`,
    issuerKey: authority.privateKey,
    notBefore: new Date(nowMs - HOUR_MS),
    notAfter: new Date(nowMs + VALIDITY_MS),
  };
  const authorityCertificate = signCertificate({
    ...shared,
    subject: shared.issuer,
    publicKey: authority.publicKey,
    extensions: authorityExtensions(),
  });
  const serverCertificate = signCertificate({
    ...shared,
    subject: `localhost@${stamp}`,
    publicKey: server.publicKey,
    extensions: serverExtensions(['localhost', '127.0.0.1', '::1']),
  });
  return {
    cert: serverCertificate + authorityCertificate,
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function makeKeys(): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  return promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
}

const OTHERS_WRITE = 0o022;
const OTHERS_READ_OR_WRITE = 0o066;

/** More than any certificate with its authorities has. */
const MAX_BYTES = 1024 * 1024;

/**
 * Reads a file of this program from a directory that other users may write.
 *
 * @returns `undefined` when there is none
 * @throws when it is not our own file: a symbolic link, another user's, or one that others may write, or, if it is
 * secret, read
 */
async function readOwnFile(
  path: string,
  { isSecret }: { readonly isSecret: boolean },
): Promise<string | undefined> {
  // Does not follow links, and does not wait for the other end of a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using file = await open(path, flags).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw codeOf(error) === 'ELOOP' ? new Error(`${path} is a symbolic link`, { cause: error }) : error;
  });
  if (!file) return undefined;
  const status = await file.stat();
  const { uid, mode, nlink, size } = status;
  if (!status.isFile()) throw new Error(`${path} is not a regular file`);
  if (uid !== (await ownUserId(path))) throw new Error(`${path} belongs to another user`);
  if (nlink > 1) throw new Error(`${path} has more than one hard link`);
  if (mode & (isSecret ? OTHERS_READ_OR_WRITE : OTHERS_WRITE)) {
    throw new Error(`${path} is ${isSecret ? 'readable' : 'writable'} by other users`);
  }
  if (size > MAX_BYTES) throw new Error(`${path} has more than ${MAX_BYTES} bytes`);
  return await file.readFile('utf8');
}

/**
 * Writes a file of our own, whatever is at its path: a symbolic link is replaced, not followed. Other users cannot read
 * it, and readers never see a part of it.
 */
async function replaceOwnFile(path: string, content: string): Promise<void> {
  await removeLeftovers(path).catch(() => {}); // they are harmless
  const beside = nameBeside(path);
  try {
    {
      await using file = await open(beside, 'wx', 0o600); // fails where anything exists, even a link
      await file.writeFile(content);
      await file.sync();
    }
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/** How old a temporary file must be to be removed: a replica that is still writing takes less time. */
const LEFTOVER_MS = 3_600_000;

/** Other users may fill the directory. */
const MAX_ENTRIES = 10_000;

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Removes temporary files of a program that was killed while it wrote this file: one may contain a key. */
async function removeLeftovers(path: string): Promise<void> {
  const [directory, beginning] = [dirname(path), `${basename(path)}.`];
  let entries = 0;
  for await (const { name } of await opendir(directory)) {
    if (++entries > MAX_ENTRIES) return;
    if (!name.startsWith(beginning) || !UUID.test(name.slice(beginning.length))) continue;
    const leftover = join(directory, name);
    if (Date.now() - (await lstat(leftover)).mtimeMs > LEFTOVER_MS) await rm(leftover, { force: true });
  }
}

/**
 * The user ID of the files that this program creates. A container's user need not have a name, without which Node does
 * not return the ID.
 */
async function ownUserId(path: string): Promise<number> {
  const beside = nameBeside(path);
  try {
    await using file = await open(beside, 'wx', 0o600);
    return (await file.stat()).uid;
  } finally {
    await rm(beside, { force: true });
  }
}

function nameBeside(path: string): string {
  return `${path}.${randomUUID()}`;
}

/** A certificate with less time left is replaced: it is valid for a year. */
const RENEWED_BEFORE_MS = 30 * 86_400_000;

export interface StoredCertificateOptions {
  /** Directory of `apiserver.crt` and `apiserver.key`. */
  readonly certDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The self-signed certificate of a directory; it is made where there is none that is valid for another month. The
 * directory may be writable for other users, as /tmp is: a pair that is not our own is not used, but replaced.
 */
export async function loadOrMakeCertificate(options: StoredCertificateOptions): Promise<KeyAndCertificate> {
  const { certDir, clock, logger } = options;
  const certFile = join(certDir, 'apiserver.crt');
  const keyFile = join(certDir, 'apiserver.key');
  const stored = await readPair(certFile, keyFile).catch((error: unknown) => {
    logger.warning('Ignoring stored self-signed certificate; generating another', {
      certDir,
      err: describeError(error),
    });
    return undefined;
  });
  if (stored && isFresh(stored, clock.nowMs())) return stored;
  const made = await makeSelfSignedCertificate(clock.nowMs());
  try {
    await mkdir(certDir, { recursive: true });
    await replaceOwnFile(keyFile, made.key);
    await replaceOwnFile(certFile, made.cert);
    logger.info('Generated self-signed cert', { certFile, keyFile });
  } catch (error) {
    logger.warning('Cannot store self-signed certificate; the next start generates another', {
      certDir,
      err: describeError(error),
    });
  }
  return made;
}

/** @throws when the key does not match the certificate, or one of them cannot be read */
export function requireMatchingPair(cert: string, key: string): KeyAndCertificate {
  const pair = { cert, key };
  if (!belongTogether(pair)) throw new Error('private key does not match certificate');
  return pair;
}

/** `undefined` at the first start. */
async function readPair(certFile: string, keyFile: string): Promise<KeyAndCertificate | undefined> {
  const [cert, key] = await Promise.all([
    readOwnFile(certFile, { isSecret: false }),
    readOwnFile(keyFile, { isSecret: true }),
  ]);
  return cert !== undefined && key !== undefined ? { cert, key } : undefined;
}

/** Whether a pair will remain valid for some time. */
export function isFresh(pair: KeyAndCertificate, nowMs: number): boolean {
  try {
    const { validFromDate, validToDate } = new X509Certificate(pair.cert);
    const renewedAtMs = validToDate.getTime() - RENEWED_BEFORE_MS;
    return belongTogether(pair) && validFromDate.getTime() <= nowMs && nowMs < renewedAtMs;
  } catch {
    return false; // not a certificate: another one is made
  }
}

function belongTogether({ cert, key }: KeyAndCertificate): boolean {
  return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
}
