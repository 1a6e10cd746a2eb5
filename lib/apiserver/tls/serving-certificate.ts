import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError, type Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { readOwnFile, replaceOwnFile } from './own-files.ts';
import { type KeyAndCertificate, makeSelfSignedCertificate } from './self-signed-certificate.ts';

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
