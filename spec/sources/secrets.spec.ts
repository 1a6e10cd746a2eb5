import { expect } from 'chai';
import fc from 'fast-check';
import { EmptyResponseError } from '#lib/sources/sample.ts';
import { buildSecretForms, Secrets } from '#lib/sources/secrets.ts';
import { describeError } from '#lib/telemetry/error-text.ts';

const SECRET = `Zq9"/w+k&~<>'7_Xv!pL é`;

const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  'percent-encoded': encodeURIComponent,
  'percent-encoded as a form': (text: string) => new URLSearchParams([['a', text]]).toString().slice(2),
  'percent-encoded byte by byte': (text: string) =>
    [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  base64: (text: string) => Buffer.from(text).toString('base64'),
  'base64 behind a user': (text: string) => Buffer.from(`admin:${text}`).toString('base64'),
  'base64 between others': (text: string) => Buffer.from(`x-token: ${text}\r\n`).toString('base64url'),
  JSON: (text: string) => JSON.stringify({ text }),
  'JSON with escapes everywhere': (text: string) =>
    text
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  hexadecimal: (text: string) => Buffer.from(text).toString('hex'),
};

/** The number of characters that are compared to find prefixes of secrets: a table has a cell for each. */
function comparedIn(work: () => unknown): number {
  const Table = globalThis.Uint32Array;
  let cells = 0;
  globalThis.Uint32Array = new Proxy(Table, {
    construct(target, parameters) {
      const made = Reflect.construct(target, parameters);
      cells += made.length;
      return made;
    },
  });
  try {
    work();
  } finally {
    globalThis.Uint32Array = Table;
  }
  return cells;
}

describe('Secrets', () => {
  it('removes secrets that are long enough to be unambiguous', () => {
    const secrets = new Secrets(['a', undefined, 'abcdefgh', 'ijklmnop']);
    expect(secrets.redact('a abcdefgh b ijklmnop $& c')).to.equal('a … b … $& c');
  });

  it('removes first, and cuts then, on one line', () => {
    const reported = new Secrets(['abcdefgh']).redact(`${'x'.repeat(296)}abcdefgh and\r\n\u001b[31mmore`);
    expect(reported).to.equal(`${'x'.repeat(296)}… an…`);
    expect(new Secrets([]).redact('one\r\n\u001b[31mtwo ')).to.equal('one [31mtwo');
  });

  it('leaves no prefix of a secret in a truncated text', () => {
    const secrets = new Secrets(['abcdefgh']);
    for (const length of [4, 5, 6, 7])
      expect(secrets.redact(`is it ${'abcdefgh'.slice(0, length)}`)).to.equal('is it …');
    expect(secrets.redact('is it abc')).to.equal('is it abc');
  });

  it('leaves no prefix of a secret at the end of a truncated text', () => {
    const secret = 'k'.repeat(5000) + SECRET;
    for (const before of [60_000, 65_000, 65_530, 70_000])
      expect(new Secrets([secret]).redact('…'.repeat(before) + secret, 1e6)).not.to.contain('kkkk');
    const repeated = new Secrets([secret]).redact(secret.repeat(40), 1e6);
    expect(repeated).not.to.contain('kkkk');
  });

  for (const [name, encode] of Object.entries(ENCODINGS))
    it(`leaves a secret out that is ${name}, wherever the text is cut`, () => {
      const secrets = new Secrets([SECRET]);
      const written = encode(SECRET);
      const pieces = new Set(buildSecretForms(SECRET).map((form) => form.slice(0, 6)));
      const inside = [...pieces].find((piece) => written.includes(piece));
      expect(inside, written).to.be.a('string');
      for (let before = 260; before < 301; before++)
        expect(secrets.redact(`${'.'.repeat(before)}${written}`)).not.to.contain(inside);
    });

  it('redacts a secret in each escaped form', () => {
    const forms = buildSecretForms(`a<b>c&d"e'f/g h!é~`);
    for (const form of [
      `a<b>c&d\\"e'f/g h!é~`, // JSON
      `a<b>c&d\\"e'f\\/g h!é~`, // of PHP
      `a\\u003cb\\u003ec\\u0026d\\"e'f/g h!é~`, // of Go
      `a\\u003cb\\u003ec\\u0026d\\"e'f/g h!\\u00e9~`, // in ASCII
      `a&lt;b&gt;c&amp;d&quot;e&#39;f/g h!é~`,
      `a&lt;b&gt;c&amp;d&quot;e&#x27;f/g h!é~`,
      `a<b>c&d"e''f/g h!é~`, // SQL
      `a<b>c&d"e\\'f/g h!é~`,
      "a%3Cb%3Ec%26d%22e'f%2Fg%20h!%C3%A9~",
      "a%3cb%3ec%26d%22e'f%2fg%20h!%c3%a9~",
      "a%3Cb%3Ec%26d%22e'f%2Fg+h!%C3%A9~",
      'a%3Cb%3Ec%26d%22e%27f%2Fg%20h%21%C3%A9~',
      'a%3Cb%3Ec%26d%22e%27f%2Fg+h%21%C3%A9%7E', // a form
      "a%3Cb%3Ec&d%22e'f/g%20h!%C3%A9~", // a whole URL
    ])
      expect(forms).to.include(form);
    const units = [...'a<b>c&d"e\'f/g h!é~'].map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
    expect(forms).to.include(units.map((unit) => `\\u${unit}`).join(''));
    expect(forms).to.include(units.map((unit) => `\\u${unit.toUpperCase()}`).join(''));
    const bytes = Buffer.from(`a<b>c&d"e'f/g h!é~`).toString('hex');
    expect(forms).to.include(bytes).and.to.include(bytes.toUpperCase());
  });

  it('has no more forms of a long secret than of one of a thousand characters', () => {
    const charactersOf = (secret: string) =>
      buildSecretForms(secret).reduce((characters, { length }) => characters + length, 0);
    const pem = Array.from({ length: 1000 }, (_, line) => `MIIEvQ+${line}/kqhkiG9w0BAQ`.padEnd(64, 'Z')).join(
      '\n',
    );
    for (const long of [pem, SECRET.repeat(3000), 'é'.repeat(65_536), '<'.repeat(1024 * 1024)])
      expect(charactersOf(long)).to.be.below(150_000);
  });

  it('compares no more of a secret with a text than the text is long', () => {
    const secrets = new Secrets(Array.from({ length: 8 }, (_, index) => `${index}abc${SECRET.repeat(3000)}`));
    const error = new Error('connection refused', { cause: new Error('is it 0abc, or 7abcZ?') });
    secrets.redactError(error);
    expect(comparedIn(() => secrets.redactError(error))).to.be.below(20_000);
    const short = new Secrets([SECRET.repeat(40)]);
    short.redactError(error);
    expect(comparedIn(() => short.redactError(error))).to.be.below(2000);
  });

  for (const [name, encode] of Object.entries(ENCODINGS))
    it(`leaves nothing of a long secret that is ${name}, wherever the text is cut`, () => {
      for (const long of [SECRET.repeat(300), `x${SECRET.repeat(3000)}`, ` ${'🔑'.repeat(2000)}\n`]) {
        const secrets = new Secrets([long]);
        const written = encode(long);
        const pieces = [...new Set(buildSecretForms(long.trim()).map((form) => form.slice(0, 6)))];
        expect(pieces.some((piece) => written.includes(piece))).to.equal(true);
        for (const length of [30, 500, 1030, 4000, 20_000, written.length]) {
          const reported = secrets.redact(`is it ${written.slice(0, length)}`, 1e6);
          expect(reported.slice(0, 6)).to.equal('is it ');
          expect(pieces.filter((piece) => reported.includes(piece))).to.deep.equal([]);
        }
      }
    });

  it('leaves no secret before a long one that the text ends with', () => {
    const secrets = new Secrets(['abcdefgh', SECRET.repeat(100)]);
    expect(secrets.redact(`a abcdefgh b abcdef${SECRET.repeat(100)} behind`)).to.equal('a … b ……');
  });

  it('leaves no whole secret in any text', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 8, maxLength: 9 });
    const texts = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 200 });
    fc.assert(
      fc.property(letters, texts, (secret, text) => {
        expect(new Secrets([secret]).redact(text)).not.to.include(secret);
      }),
    );
  });

  it('redacts errors and their causes, and returns errors without secrets unchanged', () => {
    const secrets = new Secrets([SECRET]);
    const cause = new Error(`is it ${SECRET}?`);
    const reported = secrets.redactError(new Error('Cannot ask', { cause }));
    expect(describeError(reported)).to.equal('Cannot ask: is it …?');
    const harmless = new Error('Cannot ask', { cause: new Error('connection refused') });
    expect(secrets.redactError(harmless)).to.equal(harmless);
    expect(secrets.redactError(new EmptyResponseError(SECRET))).to.be.instanceOf(EmptyResponseError);
    expect(secrets.redactError(SECRET).message).to.equal('…');
  });

  it('accepts errors that are their own cause', () => {
    const error = new Error(SECRET);
    error.cause = error;
    expect(describeError(new Secrets([SECRET]).redactError(error))).not.to.contain('Zq9');
  });
});
