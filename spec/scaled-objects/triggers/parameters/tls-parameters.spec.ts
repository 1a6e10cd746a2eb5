import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { createSecureContext, rootCertificates } from 'node:tls';
import { expect } from 'chai';
import { httpIdentity } from '#lib/scaled-objects/triggers/parameters/http-authentication.ts';
import { authorityIn, clientKey } from '#lib/scaled-objects/triggers/parameters/tls-parameters.ts';
import { describeError } from '#lib/telemetry/error-text.ts';

const [CA = '', OTHER = ''] = rootCertificates;
const NONE = 'parameter "ca" has no PEM certificate';

describe('authorityIn', () => {
  it('takes one certificate, several, and none at all', () => {
    for (const ca of [CA, `${CA}\n${OTHER}`, undefined, '', ' \n']) expect(authorityIn(ca)).to.equal(ca);
  });

  it('rejects CAs that TLS would ignore', () => {
    for (const ca of ['CA', CA.slice(0, 200), CA.replaceAll('CERTIFICATE', 'CERT')])
      expect(() => authorityIn(ca)).to.throw(NONE);
    expect(() => httpIdentity({ ca: 'CA' } as never, false)).to.throw(NONE);
  });
});

const passphrase = 'secretsecret';
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PLAIN = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const PBKDF2 = '06092a864886f70d01050c';
const SCRYPT = '06092b06010401da47040b';

describe('clientKey', () => {
  for (const [what, key] of [
    ['in PKCS #8', PLAIN],
    ['in PKCS #1', privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()],
    ['behind a certificate', `-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n${PLAIN}`],
  ] as const)
    it(`takes a key ${what}`, () => {
      expect(clientKey(key)).to.equal(PLAIN);
    });

  for (const [what, type] of [
    ['in PKCS #8', 'pkcs8'],
    ['as OpenSSL did at first', 'pkcs1'],
  ] as const)
    it(`decrypts a key that is encrypted ${what}`, () => {
      const encrypted = { type, format: 'pem', cipher: 'aes-256-cbc', passphrase } as const;
      const key = privateKey.export(encrypted).toString();
      expect(clientKey(key, { passphrase })).to.equal(PLAIN);
      expect(refusal(key)).to.match(/^Cannot read parameter "key" without a passphrase/);
      expect(refusal(key, { name: 'tlsClientKey' })).to.match(/^Cannot read parameter "tlsClientKey"/);
    });

  for (const label of ['ENCRYPTED PRIVATE KEY', 'PRIVATE KEY'])
    it(`rejects millions of rounds in a block ${label}`, () => {
      const key = pem(label, encryptedBy(PBKDF2, 2_000_000));
      expect(refusal(key, { passphrase })).to.include('encrypted with more than 100000 rounds');
      expect(refusal(key)).to.include('encrypted with more than 100000 rounds');
    });

  it('makes as many rounds as are usual', () => {
    expect(refusal(pem('PRIVATE KEY', encryptedBy(PBKDF2, 100_000)), { passphrase })).to.include(
      'bad decrypt',
    );
  });

  it('rejects a key that is encrypted by scrypt', () => {
    const key = pem('ENCRYPTED PRIVATE KEY', encryptedBy(SCRYPT, 1024, 8, 1));
    expect(refusal(key, { passphrase })).to.include('encryption by scrypt is not supported');
  });

  it('checks the block that TLS uses', () => {
    const costly = pem('PRIVATE KEY', encryptedBy(PBKDF2, 2_000_000));
    for (const key of [
      `-----BEGIN RSA PRIVATE KEY-----\n${costly}\n-----END RSA PRIVATE KEY-----`,
      `-----BEGIN EC PRIVATE KEY-----\nAAAA\n${costly}`,
      costly.replaceAll(/-----(?=\n|$)/g, '-----  '),
      `\r\n${costly.replaceAll('\n', '\r\n')}`,
    ])
      expect(refusal(key, { passphrase })).to.include('encrypted with more than 100000 rounds');
  });

  it('rejects a key with too many bits', () => {
    expect(clientKey(keyOf(8192))).to.equal(keyOf(8192));
    expect(refusal(keyOf(8208))).to.include('more than 8192 bits');
    expect(refusal(pem('PRIVATE KEY', Buffer.alloc(13_000)))).to.include('longer than 16384 characters');
  });

  it('rejects texts that only resemble a key', () => {
    const plain = Buffer.from(PLAIN.replaceAll(/-----.*-----|\s/g, ''), 'base64');
    for (const key of [
      pem('PRIVATE KEY', plain.subarray(0, -1)),
      pem('PRIVATE KEY', Buffer.concat([plain, Buffer.of(0)])),
      pem('PRIVATE KEY', Buffer.alloc(0)),
      pem('PRIVATE KEY', Buffer.from('3080020100', 'hex')),
      pem('PRIVATE KEY', Buffer.from(`${'3006'.repeat(20)}0500`, 'hex')),
      PLAIN.replace('PRIVATE KEY', 'PRIVATE KEYS'),
      PLAIN.replace('\n', '\n!'),
    ])
      expect(refusal(key)).to.match(/^Cannot read parameter "key" without a passphrase/);
  });

  it('returns texts unchanged in which TLS finds no key either', () => {
    expect(clientKey(undefined)).to.equal(undefined);
    expect(clientKey('KEY')).to.equal('KEY');
    expect(() => createSecureContext({ key: 'KEY' })).to.throw();
    expect(refusal('KEY', { passphrase })).to.match(
      /^Cannot read parameter "key" with parameter "keyPassword"/,
    );
  });
});

function refusal(key: string, options?: Parameters<typeof clientKey>[1]): string {
  try {
    return `none, but ${createPrivateKey(clientKey(key, options) ?? '').asymmetricKeyType}`;
  } catch (error) {
    return describeError(error);
  }
}

/** An invalid RSA key of unrelated numbers, which can be loaded nonetheless. */
function keyOf(bits: number) {
  const number = (length: number) => Buffer.alloc(length / 8, 0xc1).toString('base64url');
  const [whole, half] = [number(bits), number(bits / 2)];
  const halves = { p: half, q: half, dp: half, dq: half, qi: half };
  const key = { kty: 'RSA', n: whole, e: 'AQAB', d: whole, ...halves };
  return createPrivateKey({ key, format: 'jwk' }).export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Bytes that claim to be a key encrypted by AES-256-CBC, with the given parameters of the key derivation. */
function encryptedBy(derivation: string, ...numbers: readonly number[]): Buffer {
  const derived = [
    Buffer.from(derivation, 'hex'),
    element(0x30, element(4, Buffer.alloc(8)), ...numbers.map(integer)),
  ];
  const cipher = [Buffer.from('060960864801650304012a', 'hex'), element(4, Buffer.alloc(16))];
  const scheme = element(0x30, element(0x30, ...derived), element(0x30, ...cipher));
  const algorithm = element(0x30, Buffer.from('06092a864886f70d01050d', 'hex'), scheme);
  return element(0x30, algorithm, element(4, Buffer.alloc(32)));
}

function integer(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return element(2, bytes.subarray(bytes.findIndex((byte) => byte !== 0)));
}

function element(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag, content.length), content]);
}

function pem(label: string, der: Buffer): string {
  return `-----BEGIN ${label}-----\n${der.toString('base64')}\n-----END ${label}-----\n`;
}
