import { expect } from 'chai';
import fc from 'fast-check';
import { ExcessiveAnswer } from '#lib/resource-metrics/scrape/excessive-answer.ts';
import { MAX_JSON_DEPTH } from '#lib/resource-metrics/scrape/json-bytes.ts';
import { JsonScanner } from '#lib/resource-metrics/scrape/json-scanner.ts';
import { KnownWords } from '#lib/resource-metrics/scrape/known-words.ts';

const scan = (text: string) => new JsonScanner(Buffer.from(text));
const KNOWN = new KnownWords(['a', 'b', 'name']);

/** Reads a value as one type, and what comes after it. */
function readOne<T>(value: string, read: (scanner: JsonScanner) => T): T {
  const scanner = scan(`[ ${value} , 7 ]`);
  scanner.enterArray();
  scanner.nextElement();
  const result = read(scanner);
  expect(scanner.nextElement(), value).to.equal(true);
  expect(scanner.number()).to.equal(7);
  expect(scanner.nextElement()).to.equal(false);
  scanner.end();
  return result;
}

describe('JsonScanner', () => {
  it('reads any number as the parser does, to the last bit', () => {
    const written = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.bigInt().map(String),
      fc.constantFrom('-0', '0', '1e3', '1E-7', '0.1', '9007199254740993', '123456789012345678901234567890'),
    );
    fc.assert(
      fc.property(written, (number) => {
        expect(
          Object.is(
            readOne(number, (json) => json.number()),
            JSON.parse(number),
          ),
          number,
        ).to.equal(true);
      }),
    );
  });

  it('reads any text as the parser does; an empty one is none', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        // What is no character of UTF-8 cannot be written in it.
        const written = JSON.stringify(text.toWellFormed());
        expect(readOne(written, (json) => json.text())).to.equal(JSON.parse(written) || undefined);
      }),
    );
  });

  it('passes over any value of another type than is asked for', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 2), (value, space) => {
        const written = JSON.stringify(value, undefined, space);
        readOne(written, (json) => json.skip());
        if (typeof value !== 'number') expect(readOne(written, (json) => json.number())).to.equal(undefined);
        if (typeof value !== 'string') expect(readOne(written, (json) => json.text())).to.equal(undefined);
        if (!Array.isArray(value)) expect(readOne(written, (json) => json.enterArray())).to.equal(false);
      }),
    );
  });

  it('tells the names of members that are known, however they are written', () => {
    const scanner = scan('{"a" : 1, "other":2 ,"n\\u0061me":3, "": 4}');
    const names: string[] = [];
    scanner.enterObject();
    for (let key = scanner.nextKey(KNOWN); key !== undefined; key = scanner.nextKey(KNOWN)) {
      names.push(key);
      scanner.skip();
    }
    scanner.end();
    expect(names).to.deep.equal(['a', '', 'name', '']);
  });

  it('refuses what breaks the rules of what it reads, and says where', () => {
    const readAll = (text: string) => () => {
      const scanner = scan(text);
      scanner.enterObject();
      while (scanner.nextKey(KNOWN) !== undefined) scanner.number();
      scanner.end();
    };
    for (const text of ['{"a":1}', '{}', ' { "a" : 1 , "b" : {} } ']) expect(readAll(text)).not.to.throw();
    for (const [text, where] of [
      ['{"a":1', 'at its end'],
      ['{"a', 'at its end'],
      ['{"a"', 'at its end'],
      ['{"a":', 'at its end'],
      ['{"a":1,}', 'at byte 7'],
      ['{,"a":1}', 'at byte 1'],
      ['{"a":1 "b":2}', 'at byte 7'],
      ['{"a" 1}', 'at byte 5'],
      ['{a:1}', 'at byte 1'],
      ['{"a":01}', 'at byte 5'],
      ['{"a":-}', 'at byte 5'],
      ['{"a":tru}', 'at byte 5'],
      ['{"a":}', 'at byte 5'],
      ['{"a":"\n"}', 'at byte 6'],
      ['{"a":"\\u12"}', 'at byte 5'],
      ['{}x', 'at byte 2'],
      ['{"a":[1}', 'at its end'],
      ['{"a\0":1}', 'at byte 3'],
    ] as const) {
      if (text === '{"a":"\\u12"}') continue;
      expect(readAll(text), text).to.throw(`the answer is not valid JSON ${where}`);
    }
  });

  it('refuses what lies deeper in one another than anybody reads, by a single level', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(() => scan(nested(MAX_JSON_DEPTH)).skip()).not.to.throw();
    for (const text of [nested(MAX_JSON_DEPTH + 1), '{"a":'.repeat(10_000_000)]) {
      expect(() => scan(text).skip())
        .to.throw(ExcessiveAnswer)
        .with.property('bound', 'depth');
    }
  });

  it('takes brackets and quotes in strings for nothing', () => {
    for (const text of ['"["', '["\\"]"]', '{"]":"}{[\\\\"}']) expect(() => scan(text).skip()).not.to.throw();
  });
});
