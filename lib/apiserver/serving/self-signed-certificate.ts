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
 * Makes a certificate for `localhost`, signed by an authority of its own whose key is thrown away, as
 * Kubernetes' servers do where none is given to them: valid for a year from an hour ago.
 *
 * The keys are on P-256, which signs a handshake in a tenth of the time that RSA takes.
 */
export async function makeSelfSignedCertificate(nowMs: number): Promise<KeyAndCertificate> {
  // Loaded only when there is a certificate to make: bundled, it costs 7 MB.
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
 * Reads a file that this program has written in a directory where others may write, too.
 *
 * @returns `undefined` when there is none
 * @throws when it is no file of its own: a symbolic link, another user's, or one that others may write, or, of a secret, read
 */
async function readOwnFile(
  path: string,
  { isSecret }: { readonly isSecret: boolean },
): Promise<string | undefined> {
  // Without following links, and without waiting for the other end of a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using file = await open(path, flags).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw codeOf(error) === 'ELOOP' ? new Error(`${path} is a symbolic link`, { cause: error }) : error;
  });
  if (!file) return undefined;
  const status = await file.stat();
  const { uid, mode, nlink, size } = status;
  if (!status.isFile()) throw new Error(`${path} is no file`);
  if (uid !== (await ownUserId(path))) throw new Error(`${path} belongs to another user`);
  if (nlink > 1) throw new Error(`${path} has other names, too`);
  if (mode & (isSecret ? OTHERS_READ_OR_WRITE : OTHERS_WRITE)) {
    throw new Error(`${path} may be ${isSecret ? 'read' : 'written'} by others`);
  }
  if (size > MAX_BYTES) throw new Error(`${path} has more than ${MAX_BYTES} bytes`);
  return await file.readFile('utf8');
}

/**
 * Puts a file of our own in a place, whatever is there: a symbolic link is replaced, not followed. Nobody else may read it,
 * and nobody sees half of it.
 */
async function replaceOwnFile(path: string, content: string): Promise<void> {
  await removeLeftovers(path).catch(() => {}); // they do no harm
  const beside = nameBeside(path);
  try {
    {
      await using file = await open(beside, 'wx', 0o600); // fails where there is anything, even a link
      await file.writeFile(content);
      await file.sync();
    }
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/** A file of a program that was killed while it wrote lies there for good: another replica writes for no longer than this. */
const LEFTOVER_MS = 3_600_000;

/** Others may fill the directory. */
const MAX_ENTRIES = 10_000;

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Removes what was to become this file, and never did: it may hold a key. */
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

/** Whose files are that this program makes. A container's user need not have a name, without which Node does not tell of it. */
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

/** With less time than this left, a certificate is replaced: it is valid for a year. */
const RENEWED_BEFORE_MS = 30 * 86_400_000;

/** Where a self-signed certificate is kept. */
export interface KeptCertificateOptions {
  /** It is kept here as `apiserver.crt` and `apiserver.key`. */
  readonly certDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The self-signed certificate that is kept in a directory; where there is none that can be used for a month, it is made. Others may write
 * in that directory, such as /tmp: a pair that is not our own is not served with, and replaced.
 */
export async function keptOrMadeCertificate(options: KeptCertificateOptions): Promise<KeyAndCertificate> {
  const { certDir, clock, logger } = options;
  const certFile = join(certDir, 'apiserver.crt');
  const keyFile = join(certDir, 'apiserver.key');
  const kept = await readPair(certFile, keyFile).catch((error: unknown) => {
    logger.warning('Not serving with the certificate that is kept: another one is made', {
      certDir,
      err: describeError(error),
    });
    return undefined;
  });
  if (kept && isFresh(kept, clock.nowMs())) return kept;
  const made = await makeSelfSignedCertificate(clock.nowMs());
  try {
    await mkdir(certDir, { recursive: true });
    await replaceOwnFile(keyFile, made.key);
    await replaceOwnFile(certFile, made.cert);
    logger.info('Generated self-signed cert', { certFile, keyFile });
  } catch (error) {
    logger.warning('Cannot keep the self-signed certificate: the next start makes another one', {
      certDir,
      err: describeError(error),
    });
  }
  return made;
}

/** @throws when the key is not that of the certificate, or one of them cannot be read */
export function matchingPair(cert: string, key: string): KeyAndCertificate {
  const pair = { cert, key };
  if (!belongTogether(pair)) throw new Error('the key is not that of the certificate');
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

/** Whether a pair can be served with for some time yet. */
export function isFresh(pair: KeyAndCertificate, nowMs: number): boolean {
  try {
    const { validFromDate, validToDate } = new X509Certificate(pair.cert);
    const renewedAtMs = validToDate.getTime() - RENEWED_BEFORE_MS;
    return belongTogether(pair) && validFromDate.getTime() <= nowMs && nowMs < renewedAtMs;
  } catch {
    return false; // no certificate: another one is made
  }
}

function belongTogether({ cert, key }: KeyAndCertificate): boolean {
  return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
}
