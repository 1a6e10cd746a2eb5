/** Real ones have 1 to 4 KiB; one that names its user in hundreds of groups may have 10. */
export const MAX_CERTIFICATE_BYTES = 16 * 1024;

/** Those in use have up to some 20 bytes. */
const MAX_IDENTIFIER_BYTES = 64;

/** A serial number has 20 bytes, a parameter of a key some hundreds. */
const MAX_INTEGER_BYTES = 2 * 1024;

const [INTEGER, OBJECT_IDENTIFIER] = [0x02, 0x06];
const CONSTRUCTED = 0x20;
const LONG_FORM = 0x80;
/** The tag's number follows in bytes of its own, which nothing in a certificate needs. */
const LONG_TAG = 0x1f;

/**
 * Refuses what would take long to decode: texts of identifiers and numbers take the square of their length to write.
 *
 * @param der a value in DER, with all that lies in it; of an extension the value is bytes, and is looked at by itself
 * @throws saying what goes past its bound
 */
export function refuseExcessive(der: Uint8Array, maxBytes: number = MAX_CERTIFICATE_BYTES): void {
  if (der.length > maxBytes) throw new Error(`certificate has more than ${maxBytes} bytes`);
  for (let position = 0; position < der.length; ) {
    const tag = der[position] ?? 0;
    if ((tag & LONG_TAG) === LONG_TAG) throw new Error('certificate has a tag that no certificate has');
    const { start, length } = contentAt(der, position + 1);
    if (tag === OBJECT_IDENTIFIER && length > MAX_IDENTIFIER_BYTES)
      throw new Error('certificate has an object identifier that is too long');
    if (tag === INTEGER && length > MAX_INTEGER_BYTES)
      throw new Error('certificate has an integer that is too long');
    position = (tag & CONSTRUCTED) === 0 ? start + length : start;
  }
}

/** @param position of the length */
function contentAt(der: Uint8Array, position: number): { readonly start: number; readonly length: number } {
  const first = der[position] ?? 0;
  if (first < LONG_FORM) return { start: position + 1, length: first };
  const bytes = first - LONG_FORM;
  if (bytes === 0 || bytes > 4) throw new Error('certificate has a length that DER does not know');
  let length = 0;
  for (let index = 1; index <= bytes; index++) length = length * 256 + (der[position + index] ?? 0);
  return { start: position + 1 + bytes, length };
}
