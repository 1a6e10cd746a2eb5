import { expect } from 'chai';
import fc from 'fast-check';
import {
  countSelected,
  positionsByLabel,
  select,
  selectedObjects,
  selectInSlices,
  takeSelected,
} from '#lib/apiserver/resources/selection.ts';
import { TimeSlices } from '#lib/concurrency/event-loop.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { Thing } from '#spec/support/served-things.ts';

const batchLists = fc
  .array(fc.array(fc.nat({ max: 5 }), { maxLength: 8 }), { maxLength: 5 })
  .map((blocks) => blocks.map((sizes) => sizes.map((size) => new Thing('a', { size }))));
const isWanted = (thing: object) => thing instanceof Thing && thing.size > 2;

describe('select', () => {
  it('selects what a filter of all objects does, in their order', () => {
    fc.assert(
      fc.property(batchLists, (blocks) => {
        const selection = select(blocks, isWanted);
        expect(selectedObjects(selection)).to.deep.equal(blocks.flat().filter(isWanted));
        expect(countSelected(selection)).to.equal(blocks.flat().filter(isWanted).length);
        expect(selectedObjects(select(blocks))).to.deep.equal(blocks.flat());
      }),
    );
  });

  it('merges consecutive objects into one range, and omits blocks without any', () => {
    const block = [3, 4, 1, 5, 0].map((size) => new Thing('a', { size }));
    expect(select([[], block, [new Thing('b')]], isWanted)).to.deep.equal([
      {
        block,
        ranges: [
          { start: 0, end: 2 },
          { start: 3, end: 4 },
        ],
      },
    ]);
  });
});

describe('selectInSlices', () => {
  const pace = () => ({
    requirements: 500,
    slices: new TimeSlices(),
    signal: () => new AbortController().signal,
  });

  it('selects the same as select', async () => {
    const blocks = Array.from({ length: 20 }, (_, block) =>
      Array.from({ length: 7 * block }, (_each, index) => new Thing(`a-${index}`, { size: (index * 7) % 5 })),
    );
    for (const expected of [isWanted, undefined])
      expect(await selectInSlices(blocks, expected, pace())).to.deep.equal(select(blocks, expected));
  });

  it('stops when its signal aborts', async () => {
    const gone = new AbortController();
    let count = 0;
    const leaveAtOnce = () => {
      count++;
      gone.abort(new Error('gone'));
      return false;
    };
    const block = Array.from({ length: 1_000 }, () => new Thing('a'));
    const selecting = selectInSlices([block], leaveAtOnce, { ...pace(), signal: () => gone.signal });
    expect(await errorOf(selecting)).to.equal('gone');
    expect(count).to.be.below(100);
  });
});

describe('takeSelected', () => {
  it('returns the first of the selected objects', () => {
    fc.assert(
      fc.property(batchLists, fc.nat({ max: 20 }), (blocks, limit) => {
        const selection = select(blocks, isWanted);
        expect(selectedObjects(takeSelected(selection, limit))).to.deep.equal(
          selectedObjects(selection).slice(0, limit),
        );
      }),
    );
  });
});

const labels = fc.dictionary(fc.constantFrom('app', 'tier', 'toString'), fc.constantFrom('a', 'b', 'c'));
const block = fc
  .array(labels, { minLength: 100, maxLength: 150 })
  .map((all) => all.map((each, index) => new Thing(`thing-${index}`, { labels: each })));
const selector = fc
  .array(
    fc.constantFrom(
      'app=a',
      'app==b',
      'app in (a,c)',
      'tier!=a',
      'tier',
      '!tier',
      'toString=b',
      'app in (x)',
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((requirements) => parseLabelSelector(requirements.join(',')));

describe('positionsByLabel', () => {
  it('leaves a selection unchanged', () => {
    fc.assert(
      fc.property(block, selector, (things, labelSelector) => {
        const isWanted = ({ labels: own }: Pick<Thing, 'labels'>) => labelSelector.matches(own);
        expect(selectedObjects(select([things], isWanted, { labelSelector }))).to.deep.equal(
          things.filter(isWanted),
        );
      }),
    );
  });

  it('names no other places than those with the value', () => {
    const things = Array.from(
      { length: 300 },
      (_, index) => new Thing(`thing-${index}`, { labels: { app: `app-${index % 100}` } }),
    );
    expect(positionsByLabel(things, parseLabelSelector('tier!=x,app=app-7'))).to.deep.equal([7, 107, 207]);
    expect(positionsByLabel(things, parseLabelSelector('app in (app-7,app-3)'))).to.deep.equal([
      3, 7, 103, 107, 203, 207,
    ]);
    expect(positionsByLabel(things, parseLabelSelector('app=other'))).to.deep.equal([]);
  });

  it('is undefined for a selector without values, for a short list, and after too many labels', () => {
    const things = Array.from({ length: 100 }, (_, index) => new Thing(`thing-${index}`, {}));
    expect(positionsByLabel(things, parseLabelSelector('app,tier!=a'))).to.equal(undefined);
    expect(positionsByLabel(things.slice(1), parseLabelSelector('app=a'))).to.equal(undefined);
    for (let key = 0; key < 8; key++) {
      expect(positionsByLabel(things, parseLabelSelector(`key-${key}=a`))).to.deep.equal([]);
    }
    expect(positionsByLabel(things, parseLabelSelector('another=a'))).to.equal(undefined);
    expect(positionsByLabel(things, parseLabelSelector('key-0=a'))).to.deep.equal([]);
  });
});
