import { expect } from 'chai';
import fc from 'fast-check';
import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';
import { parseBoundedJson } from '#lib/resource-metrics/scrape/summary/bounded-json.ts';

const UNBOUNDED_BYTES = 256 * 1024;

const parse = (text: string) => parseBoundedJson(Buffer.from(text));
/** Long enough that its parts are counted. */
const padded = (text: string) => `${text}${' '.repeat(UNBOUNDED_BYTES)}`;

describe('parseBoundedJson', () => {
  it('reads any JSON text, be it counted or not', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 2), (value, space) => {
        const text = JSON.stringify(value, undefined, space);
        expect(parse(text)).to.deep.equal(JSON.parse(text));
        expect(parse(padded(text))).to.deep.equal(JSON.parse(text));
      }),
      { numRuns: 50 },
    );
  });

  it('refuses what lies too deep, by a single level, before it is parsed', () => {
    const nested = (levels: number) => padded('['.repeat(levels) + ']'.repeat(levels));
    expect(() => parse(nested(32))).not.to.throw();
    for (const text of [nested(33), '{"a":'.repeat(3_000_000)]) {
      expect(() => parse(text))
        .to.throw(
          ExcessiveResponse,
          /^the response is no summary: its parts lie more than 32 levels deep in one another$/,
        )
        .with.property('bound', 'depth');
    }
  });

  it('refuses what has too many parts, by a single one', () => {
    const listOf = (elements: number) => `[${'1,'.repeat(elements - 1)}1]`;
    expect(() => parse(listOf(1_000_000))).not.to.throw();
    for (const text of [listOf(1_000_001), `[${'{},'.repeat(500_000)}{}]`]) {
      expect(() => parse(text))
        .to.throw(ExcessiveResponse, /^the response has more than 1000000 lists, objects and members$/)
        .with.property('bound', 'parts');
    }
  });

  it('does not count what stands in strings', () => {
    const text = JSON.stringify({ '{"\\': `${'[,{\\"'.repeat(600_000)}` });
    expect(parse(text)).to.deep.equal(JSON.parse(text));
    expect(() => parse(padded(`["]]]]","\\"]]]]",${'['.repeat(33)}`)))
      .to.throw(ExcessiveResponse)
      .with.property('bound', 'depth');
  });

  it('tells strings from what is around them wherever they lie', () => {
    const brackets = '['.repeat(33);
    for (let length = 65_528; length < 65_540; length++) {
      for (const escapes of ['\\"', '\\\\', '\\\\\\"', '']) {
        const string = `"${'a'.repeat(length)}${escapes}${brackets}"`;
        expect(() => parse(padded(`[${string}]`))).not.to.throw();
        expect(() => parse(padded(`[${string},${brackets}`)))
          .to.throw(ExcessiveResponse)
          .with.property('bound', 'depth');
      }
    }
  });

  it('tells of malformed text without its words', () => {
    for (const text of ['{"a":secret}', '', padded('{"a":"\\'), padded('"secret'), '{"a":1}secret'])
      expect(() => parse(text)).to.throw(/^the response is not valid JSON$/);
  });
});
