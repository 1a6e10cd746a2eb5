import { constraintsOf } from '#lib/apiserver/access/certificate-chain.ts';
import {
  BASIC_CONSTRAINTS,
  certificateWith,
  DER_TAGS,
  der,
  EXTENDED_KEY_USAGE,
} from '#spec/support/hostile-certificates.ts';
import type { ForeignReader, Shape } from './foreign-reader.ts';

const { identifier, integer, octets, sequence } = DER_TAGS;
/** Bytes of a certificate besides its extensions. */
const OTHERS = 400;

/** Decodes client certificates, which any client can create; texts are DER, one character per byte. */
export const CERTIFICATE_READER: ForeignReader = {
  name: "a client's certificate",
  files: [],
  bound: { length: 16 * 1024, by: 'MAX_CERTIFICATE_BYTES' },
  parts: 8, // a 64th of it is shorter than the fixed content of a certificate
  shapes: {
    'an identifier of many parts': extended((bytes) => [
      [EXTENDED_KEY_USAGE, der(sequence, der(identifier, Buffer.alloc(bytes, 0x2a)))],
    ]),
    'an identifier of one long part': extended((bytes) => [
      [EXTENDED_KEY_USAGE, der(sequence, der(identifier, Buffer.alloc(bytes, 0x81)))],
    ]),
    'many usages': extended((bytes) => {
      const usage = der(identifier, Buffer.from([0x2a, 3]));
      return [
        [EXTENDED_KEY_USAGE, der(sequence, ...Array.from({ length: bytes / usage.length }, () => usage))],
      ];
    }),
    'a long path': extended((bytes) => [
      [BASIC_CONSTRAINTS, der(sequence, der(integer, Buffer.alloc(bytes, 0x7f)))],
    ]),
    'many extensions': extended((bytes) =>
      Array.from({ length: bytes / 16 }, () => ['1.2.3.4', der(octets, Buffer.alloc(3))] as const),
    ),
    'nested bytes': extended((bytes) => {
      let value = Buffer.alloc(0);
      while (value.length < bytes - OTHERS) value = der(octets, value);
      return [['1.2.3.4', value]];
    }),
  },
  read: (text) => constraintsOf({ raw: Buffer.from(text, 'latin1') }),
};

function extended(extensions: (bytes: number) => Parameters<typeof certificateWith>[0]): Shape {
  return (length) => certificateWith(extensions(length - OTHERS)).toString('latin1');
}
