import { expect } from 'chai';
import { samplesOfRows } from '#lib/sources/sql/samples-of-rows.ts';

describe('samplesOfRows', () => {
  it('takes the column "value" for the number, and the last one where there is none', () => {
    expect(samplesOfRows({ columns: ['Value', 'queue'], rows: [['1', 'a']] })).to.deep.equal([
      { value: 1, labels: { queue: 'a' } },
    ]);
    expect(samplesOfRows({ columns: ['queue', 'depth'], rows: [['a', '2']] })).to.deep.equal([
      { value: 2, labels: { queue: 'a' } },
    ]);
  });

  it('leaves out labels that are NULL, and keeps names that objects have', () => {
    const { labels } = samplesOfRows({ columns: ['__proto__', 'b', 'n'], rows: [['a', null, '1']] })[0] ?? {};
    expect(Object.entries(labels ?? {})).to.deep.equal([['__proto__', 'a']]);
  });

  for (const [text, value] of [
    ['0', 0],
    ['-12.50', -12.5],
    ['1e3', 1000],
    ['.5', 0.5],
    ['+7.', 7],
  ] as const)
    it(`reads ${text}`, () => {
      expect(samplesOfRows({ columns: ['n'], rows: [[text]] })[0]?.value).to.equal(value);
    });

  for (const text of [
    '',
    ' 1',
    '1 ',
    't',
    'NaN',
    'Infinity',
    '-Infinity',
    '1e999',
    '0x10',
    '1,5',
    '1'.repeat(500),
  ])
    it(`takes ${JSON.stringify(text.slice(0, 20))} for no number`, () => {
      expect(() => samplesOfRows({ columns: ['n'], rows: [[text]] })).to.throw(/which is no number$/);
    });

  it('shows only the beginning of a long text', () => {
    const rows = [['a'.repeat(1_000_000)]];
    expect(() => samplesOfRows({ columns: ['n'], rows })).to.throw(
      /^the query gives "a{200}…" in column "n", which is no number$/,
    );
  });

  it('has no result without rows, with NULL, and with rows beyond the bound', () => {
    expect(() => samplesOfRows({ columns: ['n'], rows: [] })).to.throw('the query has no result');
    expect(() => samplesOfRows({ columns: ['n'], rows: [[null]] })).to.throw('gives NULL in column "n"');
    expect(() => samplesOfRows({ columns: [], rows: [[]] })).to.throw('NULL');
    const rows = Array.from({ length: 1001 }, () => ['1']);
    expect(() => samplesOfRows({ columns: ['n'], rows })).to.throw('more than 1000 rows');
    expect(samplesOfRows({ columns: ['n'], rows: rows.slice(1) })).to.have.length(1000);
  });
});
