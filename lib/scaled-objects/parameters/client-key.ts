import { createPrivateKey } from 'node:crypto';

/** The key of a client certificate without its passphrase. @throws an Error that shows nothing of either */
export function clientKey(key: string | undefined, passphrase: string | undefined): string | undefined {
  if (key === undefined || passphrase === undefined) return key;
  try {
    return createPrivateKey({ key, passphrase }).export({ type: 'pkcs8', format: 'pem' }).toString();
  } catch (cause) {
    throw new Error('parameter "key" cannot be read with parameter "keyPassword"', { cause });
  }
}
