import { expect } from 'chai';
import { sqlQuery } from '#lib/scaled-objects/triggers/databases/sql-query.ts';
import { errorOf } from '#spec/support/error-of.ts';

describe('sqlQuery', () => {
  const ask = async (value: string | null) => {
    const rows = async () => ({ columns: ['a'], rows: [[value]] });
    const query = sqlQuery({ key: 'database', rows }, { text: 'SELECT a FROM b', error: 'cannot ask' });
    const [sample] = await query.ask(new AbortController().signal);
    return sample?.value;
  };

  it('reads numbers as databases write them', async () => {
    expect(await ask('12.50')).to.equal(12.5);
    expect(await ask('-1e3')).to.equal(-1000);
    expect(await ask(`${'9'.repeat(65)}.5`)).to.equal(1e65);
  });

  it('takes nothing for 0 that is no number, blanks least of all', async () => {
    for (const value of [' ', '', '\t', '0x10', 'true', 'NaN', 'Infinity', null])
      expect(await errorOf(ask(value)), JSON.stringify(value)).to.contain('the value is no number');
  });
});
