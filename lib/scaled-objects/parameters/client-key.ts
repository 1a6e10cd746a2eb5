import { createPrivateKey } from 'node:crypto';
import { checkEncryption } from './check-encryption.ts';

/** What else is known of a key. */
export interface ClientKeyOptions {
  /** Of the parameter; by default `key`. */
  readonly name?: string;
  readonly passphrase?: string | undefined;
}

/** Each handshake that proves it takes up to 0.2 s of the event loop; with twice as many bits, up to 1.5 s. */
const MOST_BITS = 8192;
/** Of such a key in any form, encrypted or not; what else a key is made of may have any length. */
const LONGEST_BLOCK = 16_384;
const BLOCK = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----((?:(?!-----)[\s\S])*)-----END \1-----/;
/** Blocks of PKCS #8: TLS takes one for the other. */
const PKCS8 = ['PRIVATE KEY', 'ENCRYPTED PRIVATE KEY'];
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;

/**
 * The key of a client certificate without its passphrase: to load one that is encrypted takes all that its text asks for,
 * with an empty passphrase where there is none. What has no key in it stays as it is, and fails where it is used.
 *
 * @throws an Error that shows nothing of either
 */
export function clientKey(
  key: string | undefined,
  { name = 'key', passphrase }: ClientKeyOptions = {},
): string | undefined {
  if (key === undefined || (passphrase === undefined && !key.includes('PRIVATE KEY'))) return key;
  try {
    const read = readKey(key, passphrase);
    if ((read.asymmetricKeyDetails?.modulusLength ?? 0) > MOST_BITS)
      throw new Error(`it has more than ${MOST_BITS} bits`);
    return read.export({ type: 'pkcs8', format: 'pem' }).toString();
  } catch (cause) {
    const how = passphrase === undefined ? 'without a passphrase' : 'with parameter "keyPassword"';
    throw new Error(`parameter "${name}" cannot be read ${how}`, { cause });
  }
}

function readKey(text: string, passphrase: string | undefined) {
  const [block, label = '', content = ''] = BLOCK.exec(text) ?? [];
  if (block === undefined) throw new Error('it is no private key in PEM');
  if (block.length > LONGEST_BLOCK) throw new Error(`it is longer than ${LONGEST_BLOCK} characters`);
  const given = passphrase === undefined ? {} : { passphrase };
  if (!PKCS8.includes(label)) return createPrivateKey({ key: block, ...given }); // encrypted in one round, if at all
  if (!BASE64.test(content)) throw new Error('it is no private key in PEM');
  const der = Buffer.from(content, 'base64');
  checkEncryption(der);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8', ...given });
}
