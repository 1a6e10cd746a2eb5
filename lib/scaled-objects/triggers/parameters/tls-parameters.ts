import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

/**
 * The CA certificates as they are given; blank if there are none.
 *
 * @throws if they contain no certificate: Node.js would ignore them and trust the system's CAs
 */
export function authorityIn(ca: string | undefined): string | undefined {
  if (ca === undefined || ca.trim() === '') return ca;
  try {
    new X509Certificate(ca);
    return ca;
  } catch {
    throw new Error('parameter "ca" has no PEM certificate');
  }
}

/** OpenSSL uses 2048 by default; this number takes about 20 ms of the event loop. */
const MAX_ROUNDS = 100_000;
const MAX_DEPTH = 8;
const [INTEGER, OBJECT_ID, SEQUENCE] = [0x02, 0x06, 0x30];
const CONSTRUCTED = 0x20;
/** Object ID of scrypt; its cost is a product of several parameters. */
const SCRYPT = '2b06010401da47040b';

interface Element {
  readonly tag: number;
  readonly content: Buffer;
  readonly end: number;
}

/**
 * Checks the encryption of a PKCS #8 key, if it is encrypted. The key itself sets the number of rounds for deriving the
 * encryption key from the passphrase, and two billion rounds would block the process for minutes.
 *
 * @throws an Error with the reason
 */
function checkEncryption(der: Buffer): void {
  const whole = elementAt(der, 0);
  if (whole.tag !== SEQUENCE || whole.end !== der.length) throw unreadable();
  const algorithm = elementAt(whole.content, 0);
  if (algorithm.tag === SEQUENCE) checkNumbers(algorithm.content, MAX_DEPTH); // an unencrypted key starts with its version
}

function checkNumbers(bytes: Buffer, depth: number): void {
  if (depth === 0) throw unreadable();
  for (let at = 0; at < bytes.length; ) {
    const { tag, content, end } = elementAt(bytes, at);
    if (tag === OBJECT_ID && content.toString('hex') === SCRYPT)
      throw new Error('encryption by scrypt is not supported; use PBKDF2');
    if (tag === INTEGER && BigInt(`0x0${content.toString('hex')}`) > MAX_ROUNDS)
      throw new Error(`encrypted with more than ${MAX_ROUNDS} rounds`);
    if (tag & CONSTRUCTED) checkNumbers(content, depth - 1);
    at = end;
  }
}

/** Parses an element of DER: tag, length, content. */
function elementAt(bytes: Buffer, at: number): Element {
  const [tag = 0, first = 0x80] = bytes.subarray(at, at + 2);
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  const start = at + 2 + lengthBytes;
  // Tags of several bytes, indefinite lengths and lengths beyond the input do not occur in keys.
  if ((tag & 0x1f) === 0x1f || first === 0x80 || lengthBytes > 3 || start > bytes.length) throw unreadable();
  const end = start + (lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes));
  if (end > bytes.length) throw unreadable();
  return { tag, content: bytes.subarray(start, end), end };
}

function unreadable(): Error {
  return new Error('not a PKCS #8 key');
}

interface ClientKeyOptions {
  /** Name of the parameter; by default `key`. */
  readonly name?: string;
  readonly passphrase?: string | undefined;
}

/** Each handshake takes up to 0.2 s of the event loop; with twice as many bits, up to 1.5 s. */
const MAX_BITS = 8192;
/** Limits the PEM block of a key of {@link MAX_BITS}, encrypted or not. */
const MAX_BLOCK_LENGTH = 16_384;
const BEGIN = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----/g;
/** PEM labels of PKCS #8; TLS accepts either for both. */
const PKCS8 = ['PRIVATE KEY', 'ENCRYPTED PRIVATE KEY'];
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;

/**
 * The key of a client certificate, decrypted once within bounds: TLS would decrypt it with the cost that the key sets. A text
 * without a key is returned unchanged and fails when it is used.
 *
 * @throws an Error without the key and the passphrase
 */
export function clientKey(
  key: string | undefined,
  { name = 'key', passphrase }: ClientKeyOptions = {},
): string | undefined {
  if (key === undefined || (passphrase === undefined && !key.includes('PRIVATE KEY'))) return key;
  const read = readKey(name, key, passphrase);
  if ((read.asymmetricKeyDetails?.modulusLength ?? 0) > MAX_BITS)
    throw new Error(`parameter "${name}" has a key of more than ${MAX_BITS} bits; use a shorter key`);
  return read.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function readKey(name: string, key: string, passphrase: string | undefined): KeyObject {
  try {
    return decryptKey(key, passphrase);
  } catch (cause) {
    const how = passphrase === undefined ? 'without a passphrase' : 'with parameter "keyPassword"';
    throw new Error(`Cannot read parameter "${name}" ${how}`, { cause });
  }
}

function decryptKey(text: string, passphrase: string | undefined) {
  const found = findKeyBlock(text);
  if (!found) throw new Error('not a PEM private key');
  const { block, label, content } = found;
  if (block.length > MAX_BLOCK_LENGTH) throw new Error(`longer than ${MAX_BLOCK_LENGTH} characters`);
  const given = passphrase === undefined ? {} : { passphrase };
  if (!PKCS8.includes(label)) return createPrivateKey({ key: block, ...given }); // at most one round
  if (!BASE64.test(content)) throw new Error('not a PEM private key');
  const der = Buffer.from(content, 'base64');
  checkEncryption(der);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8', ...given });
}

/** Finds the first private key in PEM with matching BEGIN and END labels. */
function findKeyBlock(text: string) {
  for (const { 0: begin, 1: label = '', index } of text.matchAll(BEGIN)) {
    const start = index + begin.length;
    const end = text.indexOf('-----', start);
    const close = `-----END ${label}-----`;
    if (end >= 0 && text.startsWith(close, end))
      return { label, block: text.slice(index, end) + close, content: text.slice(start, end) };
  }
  return undefined;
}
