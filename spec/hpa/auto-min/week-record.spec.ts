import { expect } from 'chai';
import { emptyWeek, withPeak } from '#lib/hpa/auto-min/week.ts';
import { formatWeek, hpaOfKey, parseWeek, weekKey } from '#lib/hpa/auto-min/week-record.ts';

describe('parseWeek', () => {
  it('reads what formatWeek writes', () => {
    const week = {
      ...withPeak(emptyWeek(19_999), 'Resource cpu', { day: 20_000, load: 12.5, minReplicas: 3 }),
      judgedDay: 20_000,
    };
    expect(parseWeek(formatWeek({ uid: 'u', week }))).to.deep.equal({ uid: 'u', week });
    const empty = { uid: 'u', week: emptyWeek(1) };
    expect(parseWeek(formatWeek(empty))).to.deep.equal(empty);
  });

  for (const text of [
    '',
    'null',
    '{}',
    '{"uid":"u","first":-1,"peaks":{}}',
    '{"uid":"u","first":1,"peaks":{"cpu":[[1,-2,3]]}}',
    '{"uid":"u","first":1,"peaks":{"cpu":[[1,2,0]]}}',
    `{"uid":"u","first":1,"peaks":{"cpu":[${'[1,2,3],'.repeat(20)}[1,2,3]]}}`,
    `{"uid":"${'u'.repeat(70_000)}","first":1,"peaks":{}}`,
  ]) {
    it(`knows that ${text.slice(0, 60)} is no record`, () => expect(parseWeek(text)).to.equal(undefined));
  }
});

describe('weekKey', () => {
  it('is a key that no HPA is called by, and tells whose it is', () => {
    expect(weekKey('web.week'))
      .to.match(/^[-._a-zA-Z0-9]+$/)
      .and.include('_'); // no name has that
    expect(hpaOfKey(weekKey('web'))).to.equal('web');
    expect(hpaOfKey('web')).to.equal('web');
  });
});
