import { expect } from 'chai';
import fc from 'fast-check';
import { parseCsv } from '#lib/sources/http-apis/read-flux-tables.ts';

describe('parseCsv', () => {
  const texts: readonly (readonly [string, string, readonly (readonly string[])[]])[] = [
    [
      'rows and fields',
      'a,b\r\nc,d\r\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['a last line without an end', 'a\nb', [['a'], ['b']]],
    [
      'empty fields',
      ',a,\n,\n',
      [
        ['', 'a', ''],
        ['', ''],
      ],
    ],
    ['a blank line', 'a\r\n\r\nb\r\n', [['a'], [], ['b']]],
    ['quoted fields', '"a,\r\nb","c""d",""\r\n', [['a,\r\nb', 'c"d', '']]],
    ['an empty quoted field alone', '""\r\n', [['']]],
    ['a comma at the end of the text', 'a,', [['a', '']]],
    ['nothing', '', []],
  ];
  for (const [what, text, rows] of texts)
    it(`reads ${what}`, () => {
      expect([...parseCsv(text)]).to.deep.equal(rows);
    });

  it('refuses a quoted field that does not end', () => {
    expect(() => [...parseCsv('a,"b""')]).to.throw('a quoted field is not terminated');
  });

  it('reads any rows that are written', () => {
    const field = fc.stringMatching(/^[a",\r\n ]{0,6}$/);
    fc.assert(
      fc.property(fc.array(fc.array(field, { minLength: 1, maxLength: 4 }), { maxLength: 5 }), (rows) => {
        const text = rows
          .map((row) => `${row.map((one) => `"${one.replaceAll('"', '""')}"`).join(',')}\r\n`)
          .join('');
        expect([...parseCsv(text)]).to.deep.equal(rows);
      }),
    );
  });
});
