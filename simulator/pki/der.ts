/**
 * ASN.1 in its distinguished encoding (X.690), as far as certificates need it: simulated kubelets need one each, by the
 * thousand, and to write the bytes takes an eighth of what a model of them does.
 */

/** A value of any type: tag, length, contents. */
export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const length = contents.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat([Buffer.of(tag, ...lengthOctets(length)), ...contents]);
}

/** Values of any types, in this order. */
export function sequence(...items: readonly Uint8Array[]): Buffer {
  return der(0x30, ...items);
}

/** Values of one type, in the order of their encodings. */
export function setOf(...items: readonly Uint8Array[]): Buffer {
  return der(0x31, ...items);
}

/** @param bytes the fewest that hold the number, of which the first bit is its sign */
export function integer(bytes: Uint8Array): Buffer {
  return der(0x02, bytes);
}

/** Bytes as they are. */
export function octetString(bytes: Uint8Array): Buffer {
  return der(0x04, bytes);
}

/** @param unusedBits how many of the last byte do not count */
export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return der(0x03, Buffer.of(unusedBits), bytes);
}

/** Text of any characters. */
export function utf8String(text: string): Buffer {
  return der(0x0c, Buffer.from(text));
}

/** What is true; what is false by default is left out. */
export const TRUE: Uint8Array = der(0x01, Buffer.of(0xff));

/** @param dotted such as `2.5.4.3` */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

/** A moment in whole seconds, in the type that RFC 5280 wants for its year. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().slice(0, 19).replaceAll(/\D/g, '');
  const isShort = date.getUTCFullYear() >= 1950 && date.getUTCFullYear() < 2050;
  return der(isShort ? 0x17 : 0x18, Buffer.from(`${isShort ? digits.slice(2) : digits}Z`));
}

function lengthOctets(length: number): readonly number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

function base128(part: number): readonly number[] {
  const octets = [part & 0x7f];
  for (let left = Math.floor(part / 128); left > 0; left = Math.floor(left / 128))
    octets.unshift((left & 0x7f) | 0x80);
  return octets;
}
