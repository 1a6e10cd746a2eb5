import { createPrivateKey, X509Certificate } from 'node:crypto';

/**
 * The authorities that a server may have its certificate of, as they were given; blank where none were.
 *
 * @throws where there is no certificate in them: TLS would pass over them in silence, and trust the system's alone
 */
export function authorityIn(ca: string | undefined): string | undefined {
  if (ca === undefined || ca.trim() === '') return ca;
  try {
    new X509Certificate(ca);
    return ca;
  } catch {
    throw new Error('parameter "ca" holds no certificate in PEM');
  }
}

/** OpenSSL takes 2048 by itself; so many take some 20 ms, during which nobody else has the event loop. */
const MAX_ROUNDS = 100_000;
const MAX_DEPTH = 8;
const [INTEGER, OBJECT_ID, SEQUENCE] = [0x02, 0x06, 0x30];
const CONSTRUCTED = 0x20;
/** Of scrypt, whose numbers are multiplied. */
const SCRYPT = '2b06010401da47040b';

interface Element {
  readonly tag: number;
  readonly content: Buffer;
  readonly end: number;
}

/**
 * Checks how a private key in PKCS #8 is encrypted, if it is: its text says how many rounds it takes to make the key of the
 * encryption out of the passphrase, and two thousand million would stop the whole program for minutes.
 *
 * @throws an Error that says what keeps it from being read
 */
function checkEncryption(der: Buffer): void {
  const whole = elementAt(der, 0);
  if (whole.tag !== SEQUENCE || whole.end !== der.length) throw unreadable();
  const algorithm = elementAt(whole.content, 0);
  if (algorithm.tag === SEQUENCE) checkNumbers(algorithm.content, MAX_DEPTH); // a plain one begins with its version
}

function checkNumbers(bytes: Buffer, depth: number): void {
  if (depth === 0) throw unreadable();
  for (let at = 0; at < bytes.length; ) {
    const { tag, content, end } = elementAt(bytes, at);
    if (tag === OBJECT_ID && content.toString('hex') === SCRYPT)
      throw new Error('it is encrypted by scrypt, which is not supported: use PBKDF2');
    if (tag === INTEGER && BigInt(`0x0${content.toString('hex')}`) > MAX_ROUNDS)
      throw new Error(`it is encrypted by more than ${MAX_ROUNDS} rounds`);
    if (tag & CONSTRUCTED) checkNumbers(content, depth - 1);
    at = end;
  }
}

/** An element of DER: a tag, a length, and as many bytes. */
function elementAt(bytes: Buffer, at: number): Element {
  const [tag = 0, first = 0x80] = bytes.subarray(at, at + 2);
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  const start = at + 2 + lengthBytes;
  // A tag of several bytes, no length, or one beyond all that there is: nothing of a key.
  if ((tag & 0x1f) === 0x1f || first === 0x80 || lengthBytes > 3 || start > bytes.length) throw unreadable();
  const end = start + (lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes));
  if (end > bytes.length) throw unreadable();
  return { tag, content: bytes.subarray(start, end), end };
}

function unreadable(): Error {
  return new Error('it is no key in PKCS #8');
}

/** What else is known of a key. */
interface ClientKeyOptions {
  /** Of the parameter; by default `key`. */
  readonly name?: string;
  readonly passphrase?: string | undefined;
}

/** Each handshake that proves it takes up to 0.2 s of the event loop; with twice as many bits, up to 1.5 s. */
const MAX_BITS = 8192;
/** Of such a key in any form, encrypted or not; what else a key is made of may have any length. */
const MAX_BLOCK_LENGTH = 16_384;
const BEGIN = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----/g;
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
    if ((read.asymmetricKeyDetails?.modulusLength ?? 0) > MAX_BITS)
      throw new Error(`it has more than ${MAX_BITS} bits`);
    return read.export({ type: 'pkcs8', format: 'pem' }).toString();
  } catch (cause) {
    const how = passphrase === undefined ? 'without a passphrase' : 'with parameter "keyPassword"';
    throw new Error(`parameter "${name}" cannot be read ${how}`, { cause });
  }
}

function readKey(text: string, passphrase: string | undefined) {
  const found = findKeyBlock(text);
  if (!found) throw new Error('it is no private key in PEM');
  const { block, label, content } = found;
  if (block.length > MAX_BLOCK_LENGTH) throw new Error(`it is longer than ${MAX_BLOCK_LENGTH} characters`);
  const given = passphrase === undefined ? {} : { passphrase };
  if (!PKCS8.includes(label)) return createPrivateKey({ key: block, ...given }); // encrypted in one round, if at all
  if (!BASE64.test(content)) throw new Error('it is no private key in PEM');
  const der = Buffer.from(content, 'base64');
  checkEncryption(der);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8', ...given });
}

/** Finds the first private key in PEM that ends as it begins, with no five dashes inside of it. */
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
