import { expect } from 'chai';
import {
  assignRecords,
  bytesOf,
  findPartIndexes,
  type StatePart,
  writingOrder,
} from '#lib/hpa/state/config-map-parts.ts';

const isKnown = () => true;

/** An existing part, in a version. */
function part(version: number, records: Readonly<Record<string, string>>): StatePart {
  return {
    metadata: { name: 'm', resourceVersion: `${version}` },
    records: new Map(Object.entries(records)),
  };
}
const ABSENT: StatePart = { metadata: undefined, records: new Map() };

function located(
  before: readonly StatePart[],
  changes: Readonly<Record<string, string | undefined>>,
  existing: (name: string) => boolean = isKnown,
) {
  const { parts, refused } = assignRecords(before, new Map(Object.entries(changes)), existing);
  return { parts: parts.map((records) => Object.fromEntries(records)), refused };
}

describe('bytesOf', () => {
  it('counts names and texts in UTF-8', () => expect(bytesOf('a', 'é€')).to.equal(6));
});

describe('assignRecords', () => {
  it('fills a part to its last byte, and continues in the next', () => {
    const text = 'x'.repeat(899_999);
    const nothing = [{}, {}];
    expect(located([], { a: text })).to.deep.equal({ parts: [{ a: text }, {}, ...nothing], refused: [] });
    expect(located([], { a: text, b: '' }).parts.slice(0, 2)).to.deep.equal([{ a: text }, { b: '' }]);
    expect(located([], { a: `${text}x` })).to.deep.equal({ parts: [{}, {}, ...nothing], refused: ['a'] });
    expect(located([part(1, { a: text })], { a: text.replace('x', 'y') }).parts[0]).to.have.property('a');
  });

  it('reuses the room of a shrunk record at once', () => {
    const half = 'x'.repeat(440_000);
    const before = [part(1, { a: half, b: half })];
    expect(located(before, { a: 'short', c: half }).parts[0]).to.have.all.keys('a', 'b', 'c');
    expect(located(before, { a: undefined, c: half }).parts[0]).to.have.all.keys('b', 'c');
    expect(located(before, { a: `${half}${half}`, c: half }).parts.map(Object.keys)).to.deep.equal([
      ...[['b', 'c'], ['a'], [], []],
    ]);
  });

  it('drops records of deleted HPAs, and the older of two', () => {
    const before = [part(7, { a: 'old', b: 'b' }), part(8, { a: 'new', c: 'c' })];
    expect(located(before, {}, (name) => name !== 'b')).to.deep.equal({
      ...{ parts: [{}, { a: 'new', c: 'c' }, {}, {}], refused: [] },
    });
  });

  it('writes neither to an unreadable part nor beyond it', () => {
    const text = 'x'.repeat(800_000);
    const closed = { ...ABSENT, isClosed: true } as const;
    expect(located([part(1, { a: text }), closed], { b: text }).refused).to.deep.equal(['b']);
    expect(located([part(1, { a: text }), closed], { b: 'short' }).parts[0]).to.have.all.keys('a', 'b');
  });
});

describe('writingOrder', () => {
  const order = (before: readonly StatePart[], desired: readonly Readonly<Record<string, string>>[]) =>
    writingOrder(
      before,
      desired.map((records) => new Map(Object.entries(records))),
    );

  it('writes new parts first, then those that records move to, and empties the last first', () => {
    expect(order([part(1, { a: '1' }), ABSENT], [{}, { a: '1' }])).to.deep.equal([1, 0]);
    expect(order([part(1, { a: '1' }), part(2, { b: '2' })], [{}, { a: '1', b: '2' }])).to.deep.equal([1, 0]);
    expect(order([part(1, { a: '1' }), part(2, { b: '2' })], [{ b: '2' }, { a: '1' }])).to.deep.equal([0, 1]);
    const three = [part(1, { a: '1' }), part(2, { b: '2' }), part(3, { c: '3' })];
    expect(order(three, [{}, {}, {}])).to.deep.equal([2, 1, 0]);
    expect(order(three, [{ a: '2' }, { b: '2' }, { c: '4' }])).to.deep.equal([2, 0]);
    expect(order(three, [{ a: '1' }, { b: '2' }, { c: '3' }])).to.deep.equal([]);
  });

  it('deletes empty parts beyond the last one with records, and retains those that lead to it', () => {
    const before = [part(1, {}), part(2, { b: '2' }), part(3, {})];
    expect(order(before, [{}, { b: '2' }, {}])).to.deep.equal([2]);
    expect(order([ABSENT, ABSENT], [{}, {}])).to.deep.equal([]);
  });
});

describe('findPartIndexes', () => {
  it('finds a record in the part that was written later', () => {
    const places = (before: readonly StatePart[]) => Object.fromEntries(findPartIndexes(before));
    expect(places([part(9, { a: '' }), part(8, { a: '', b: '' })])).to.deep.equal({ a: 0, b: 1 });
    expect(places([part(8, { a: '' }), part(10, { a: '' })])).to.deep.equal({ a: 1 });
    expect(places([part(8, { a: '' }), part(8, { a: '' })])).to.deep.equal({ a: 0 });
    expect(places([])).to.deep.equal({});
  });
});
