import { expect } from 'chai';
import fc from 'fast-check';
import { countSelected, select, selectedObjects, takeSelected } from '#lib/apiserver/objects/selection.ts';
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

  it('puts what follows one another into one run, and leaves out blocks without any', () => {
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

describe('takeSelected', () => {
  it('takes the first of what is selected', () => {
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
