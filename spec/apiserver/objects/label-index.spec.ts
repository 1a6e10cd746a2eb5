import { expect } from 'chai';
import fc from 'fast-check';
import { placesByLabel } from '#lib/apiserver/objects/label-index.ts';
import { select, selectedObjects } from '#lib/apiserver/objects/selection.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { Thing } from '#spec/support/served-things.ts';

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

describe('placesByLabel', () => {
  it('leaves a selection what it is', () => {
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
    expect(placesByLabel(things, parseLabelSelector('tier!=x,app=app-7'))).to.deep.equal([7, 107, 207]);
    expect(placesByLabel(things, parseLabelSelector('app in (app-7,app-3)'))).to.deep.equal([
      3, 7, 103, 107, 203, 207,
    ]);
    expect(placesByLabel(things, parseLabelSelector('app=other'))).to.deep.equal([]);
  });

  it('tells nothing of a selector without values, of a short list, and once asked by very many labels', () => {
    const things = Array.from({ length: 100 }, (_, index) => new Thing(`thing-${index}`, {}));
    expect(placesByLabel(things, parseLabelSelector('app,tier!=a'))).to.equal(undefined);
    expect(placesByLabel(things.slice(1), parseLabelSelector('app=a'))).to.equal(undefined);
    for (let key = 0; key < 8; key++) {
      expect(placesByLabel(things, parseLabelSelector(`key-${key}=a`))).to.deep.equal([]);
    }
    expect(placesByLabel(things, parseLabelSelector('another=a'))).to.equal(undefined);
    expect(placesByLabel(things, parseLabelSelector('key-0=a'))).to.deep.equal([]);
  });
});
