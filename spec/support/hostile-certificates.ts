import { X509Certificate } from 'node:crypto';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import { Certificate, Extension } from '@peculiar/asn1-x509';
import { TestAuthority } from './issued-certificates.ts';

const ORDINARY = new X509Certificate(new TestAuthority('root').leaf().cert).raw;

/** A certificate in DER with these extensions only; its signature is not valid for them. */
export function certificateWith(extensions: readonly (readonly [id: string, value: Uint8Array])[]): Buffer {
  const certificate = AsnConvert.parse(ORDINARY, Certificate);
  certificate.tbsCertificate.extensions?.splice(
    0,
    Number.POSITIVE_INFINITY,
    ...extensions.map(
      ([extnID, value]) => new Extension({ extnID, extnValue: new OctetString(new Uint8Array(value)) }),
    ),
  );
  return Buffer.from(AsnConvert.serialize(certificate));
}

export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer<ArrayBuffer> {
  const content = Buffer.concat(parts);
  const digits: number[] = [];
  for (let left = content.length; left > 0; left = Math.floor(left / 256)) digits.unshift(left % 256);
  const length = content.length < 0x80 ? [content.length] : [0x80 + digits.length, ...digits];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

export const [EXTENDED_KEY_USAGE, BASIC_CONSTRAINTS] = ['2.5.29.37', '2.5.29.19'];
export const DER_TAGS = { boolean: 1, integer: 2, octets: 4, identifier: 6, sequence: 0x30 } as const;
