import { expect } from 'chai';
import { formatWeek, hpaOfKey, parseWeek, weekKey } from '#lib/hpa/min-replicas/persisted-weeks.ts';
import { emptyWeek, withPeak } from '#lib/hpa/min-replicas/recommended-minimum.ts';

describe('parseWeek', () => {
  it('parses what formatWeek returns', () => {
    const week = {
      ...withPeak(emptyWeek(19_999), 'Resource cpu', { day: 20_000, load: 12.5, minReplicas: 3 }),
      judgedDay: 20_000,
    };
    expect(parseWeek(formatWeek({ uid: 'u', week }))).to.deep.equal({ uid: 'u', week });
    const empty = { uid: 'u', week: emptyWeek(1) };
    expect(parseWeek(formatWeek(empty))).to.deep.equal(empty);
  });

  it('parses records of earlier versions, including missing earlier days', () => {
    const text =
      '{"uid":"u","first":19999,"judged":20000,"lacksBefore":true,"peaks":{"Resource cpu":[[20000,12.3457,3]]}}';
    const peaks = new Map([['Resource cpu', [{ day: 20_000, load: 12.3457, minReplicas: 3 }]]]);
    const record = { uid: 'u', week: { firstDay: 19_999, judgedDay: 20_000, peaks }, lacksBefore: true };
    expect(parseWeek(text)).to.deep.equal(record);
    peaks.set('Resource cpu', [{ day: 20_000, load: 12.345678, minReplicas: 3 }]);
    expect(formatWeek(record)).to.equal(text);
    expect(parseWeek(text.replace('true', 'false'))).to.not.have.property('lacksBefore');
  });

  it('parses the longest record, and the maximum of days of a metric', () => {
    const text = '{"uid":"u","first":1,"peaks":{}}'.padEnd(65_536);
    expect(parseWeek(text)?.uid).to.equal('u');
    expect(parseWeek(`${text} `)).to.equal(undefined);
    const days = (count: number) => Array.from({ length: count }, (_, day) => `[${day},0,1]`).join();
    expect(
      parseWeek(`{"uid":"u","first":1,"peaks":{"cpu":[${days(16)}]}}`)?.week.peaks.get('cpu'),
    ).to.have.lengthOf(16);
    expect(parseWeek(`{"uid":"u","first":1,"peaks":{"cpu":[${days(17)}]}}`)).to.equal(undefined);
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
    it(`rejects ${text.slice(0, 60)}`, () => expect(parseWeek(text)).to.equal(undefined));
  }
});

describe('weekKey', () => {
  it('is a key that is no HPA name, and returns its HPA', () => {
    expect(weekKey('web.week'))
      .to.match(/^[-._a-zA-Z0-9]+$/)
      .and.include('_'); // names do not contain it
    expect(hpaOfKey(weekKey('web'))).to.equal('web');
    expect(hpaOfKey('web')).to.equal('web');
  });
});
