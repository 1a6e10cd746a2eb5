/** OpenSSL takes 2048 by itself; so many take some 20 ms, during which nobody else has the event loop. */
const MOST_ROUNDS = 100_000;
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
export function checkEncryption(der: Buffer): void {
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
    if (tag === INTEGER && BigInt(`0x0${content.toString('hex')}`) > MOST_ROUNDS)
      throw new Error(`it is encrypted by more than ${MOST_ROUNDS} rounds`);
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
