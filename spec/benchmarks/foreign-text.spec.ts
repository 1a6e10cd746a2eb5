import { expect } from 'chai';
import { repeated } from '#spec/reliability/foreign-text/foreign-reader.ts';
import { measureForeignText, reportForeignText } from './foreign-text.ts';

describe('measureForeignText', () => {
  const reader = {
    name: 'echo',
    files: [],
    bound: { length: 4_096, by: 'nobody' },
    shapes: { short: () => 'a', long: repeated('ab') },
    read: (text: string) => {
      if (text.length > 1) JSON.parse(`[${'"x",'.repeat(20_000)}"x"]`);
    },
  };

  it('returns the most expensive text of each reader', async () => {
    const [result, ...others] = await measureForeignText([reader]);
    expect(others).to.deep.equal([]);
    expect(result).to.include({ reader: 'echo', shape: 'long', length: 4_096 });
  });
});

describe('reportForeignText', () => {
  it('marks results beyond the target', () => {
    const result = { reader: 'a', shape: 'b', length: 2_048 };
    const report = reportForeignText([
      { ...result, costMs: 51 },
      { ...result, costMs: 0.5 },
    ]);
    expect(report).to.match(/\| 51 ms +\| more than 50 ms \|/);
    expect(report).to.match(/\| 0\.50 ms \| +\|/);
  });
});
