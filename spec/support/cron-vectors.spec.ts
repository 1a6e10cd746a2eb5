import { expect } from 'chai';
import { parseCronVectors } from './cron-vectors.ts';

describe('parseCronVectors', () => {
  it('reads one per line', () => {
    const vectors = [
      { schedule: '@daily', timeZone: 'UTC', from: '2026-03-29T00:59:30Z', next: ['2026-03-30T00:00:00Z'] },
      { schedule: '* *', error: 'expected exactly 6 fields' },
    ];
    const text = `${vectors.map((vector) => JSON.stringify(vector)).join('\n\n')}\n`;
    expect(parseCronVectors(text)).to.deep.equal(vectors);
  });

  for (const [text, reported] of [
    ['', /^there is no schedule in it/],
    ['{"schedule": "@daily"}\n{"sch', /^line 2 is no JSON$/],
    ['{"a": 1}', /^line 1 is no recorded schedule: schedule: /],
    ['[]', /^line 1 is no recorded schedule: it: /],
    ['{"schedule": "@daily", "from": "soon"}', /^line 1 is no recorded schedule: from: it is no time$/],
    ['{"schedule": "@daily", "next": ["soon"]}', /^line 1 is no recorded schedule: next.0: it is no time$/],
  ] as const)
    it(`rejects ${JSON.stringify(text)} with the line and the reason`, () => {
      expect(() => parseCronVectors(text)).to.throw(reported);
    });
});
