import { expect } from 'chai';
import { formatRecord, type MemoryRecord, parseRecord, withIntent } from '#lib/hpa/memory/memory-record.ts';

const FULL: MemoryRecord = {
  uid: 'u',
  recommendations: [{ replicas: 8, atMs: 1000 }],
  latest: { replicas: 4, atMs: 2000 },
  scaleUpEvents: [{ change: 2, atMs: 3000 }],
  scaleDownEvents: [{ change: 1, atMs: 4000 }],
  intent: { from: 4, to: 6, atMs: 5000 },
};
const NOTHING: MemoryRecord = {
  ...{ uid: 'u', recommendations: [], latest: undefined, scaleUpEvents: [], scaleDownEvents: [] },
};

describe('formatRecord', () => {
  it('writes what a later version has to read, and leaves out what there is nothing of', () => {
    expect(formatRecord(FULL)).to.equal(
      '{"uid":"u","recommendations":[[8,1000]],"latest":[4,2000],"scaleUps":[[2,3000]],"scaleDowns":[[1,4000]],"intent":[4,6,5000]}',
    );
    expect(formatRecord(NOTHING)).to.equal('{"uid":"u","recommendations":[]}');
  });
});

describe('parseRecord', () => {
  it('reads what was written', () => {
    for (const record of [FULL, NOTHING]) expect(parseRecord(formatRecord(record))).to.deep.equal(record);
  });

  it('reads no more than a record of the longest, and no more entries than one may have', () => {
    const text = formatRecord(FULL);
    const longest = text.padEnd(262_144);
    expect(parseRecord(longest)).to.deep.equal(FULL);
    expect(parseRecord(`${longest} `)).to.equal(undefined);
    const withMany = (count: number) => {
      const recommendations = Array.from({ length: count }, () => ({ replicas: 1, atMs: 1 }));
      return parseRecord(formatRecord({ ...NOTHING, recommendations }));
    };
    expect(withMany(4096)?.recommendations).to.have.lengthOf(4096);
    expect(withMany(4097)).to.equal(undefined);
  });

  for (const text of [
    ...['', 'text', '[]', 'null', '{"recommendations":[]}', '{"uid":"u"}', '{"uid":1,"recommendations":[]}'],
    '{"uid":"u","recommendations":[[1]]}',
    '{"uid":"u","recommendations":[[1.5,1]]}',
    '{"uid":"u","recommendations":[[1,-1]]}',
    '{"uid":"u","recommendations":[],"latest":[1]}',
    '{"uid":"u","recommendations":[],"scaleUps":[["1",1]]}',
    '{"uid":"u","recommendations":[],"scaleDowns":{}}',
    '{"uid":"u","recommendations":[],"intent":[1,2]}',
  ])
    it(`takes nothing of ${text === '' ? 'nothing' : text}`, () =>
      expect(parseRecord(text)).to.equal(undefined));
});

describe('withIntent', () => {
  it('counts a scaling that was about to be written as one that was, the way that it went', () => {
    const { intent: _, ...kept } = FULL;
    const events = { uid: 'u', recommendations: kept.recommendations, latest: kept.latest };
    expect(withIntent(FULL)).to.deep.equal({
      ...{ ...events, scaleDownEvents: kept.scaleDownEvents },
      scaleUpEvents: [...kept.scaleUpEvents, { change: 2, atMs: 5000 }],
    });
    expect(withIntent({ ...FULL, intent: { from: 6, to: 1, atMs: 5000 } })).to.deep.equal({
      ...{ ...events, scaleUpEvents: kept.scaleUpEvents },
      scaleDownEvents: [...kept.scaleDownEvents, { change: 5, atMs: 5000 }],
    });
    expect(withIntent(kept)).to.deep.equal(kept);
  });
});
