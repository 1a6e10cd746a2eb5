import { expect } from 'chai';
import fc from 'fast-check';
import { parseQuery } from '#lib/apiserver/http/query-values.ts';
import { parseListOptions } from '#lib/apiserver/resources/list-options.ts';
import { cutPage, type Page } from '#lib/apiserver/resources/page.ts';
import { select, selectedObjects } from '#lib/apiserver/resources/selection.ts';
import type { ServedObject } from '#lib/apiserver/resources/served-object.ts';
import { wantedBy } from '#lib/apiserver/resources/wanted-objects.ts';
import { Thing } from '#spec/support/served-things.ts';

const names = fc.stringMatching(/^[a-c]{1,2}$/);
const keys = fc.uniqueArray(fc.tuple(fc.constantFrom('m', 'n', 'n-2'), names), {
  selector: (key) => key.join('/'),
  maxLength: 12,
});

describe('cutPage', () => {
  it('makes pages that are the whole list when they are put together', () => {
    fc.assert(
      fc.property(keys, fc.integer({ min: 1, max: 5 }), (all, limit) => {
        const things = thingsOf(all);
        const pages = pagesOf(() => things, limit);
        expect(pages.flatMap(keysOf)).to.deep.equal(things.map(keyOf));
        expect(pages.map(({ metadata }) => metadata.remainingItemCount)).to.deep.equal(
          pages.map((_page, index) => {
            const remaining = things.length - (index + 1) * limit;
            return remaining > 0 ? remaining : undefined;
          }),
        );
      }),
    );
  });

  it('goes on behind the last object, whatever comes and goes between two pages', () => {
    fc.assert(
      fc.property(keys, keys, fc.integer({ min: 1, max: 5 }), (before, after, limit) => {
        let asked = 0;
        const listed = pagesOf(() => thingsOf(asked++ === 0 ? before : after), limit).flatMap(keysOf);
        expect(listed).to.deep.equal([...new Set(listed)].sort(inOrder));
        const first = listed.slice(0, limit);
        const last = first.at(-1);
        const rest =
          last === undefined || before.length <= limit
            ? []
            : thingsOf(after)
                .map(keyOf)
                .filter((key) => inOrder(key, last) > 0);
        expect(listed).to.deep.equal([...first, ...rest]);
      }),
    );
  });

  it('tells no number of remaining objects where some were selected away', () => {
    const things = thingsOf([
      ['n', 'a'],
      ['n', 'b'],
    ]);
    const { metadata } = cutPage(select([things]), { limit: 1, tellsRemaining: false });
    expect(metadata).to.have.all.keys('continue');
  });

  it('is everything without a limit', () => {
    const selection = select([
      thingsOf([
        ['n', 'a'],
        ['n', 'b'],
      ]),
    ]);
    for (const limit of [0, -1, 2, 3]) {
      expect(cutPage(selection, { limit, tellsRemaining: true })).to.deep.equal({ selection, metadata: {} });
    }
  });
});

/** Every page, each asked for with the token of the one before. */
function pagesOf(all: () => readonly Thing[], limit: number): readonly Page[] {
  const pages: Page[] = [];
  let token: string | undefined = '';
  while (token !== undefined) {
    const isWanted = wantedBy(parseListOptions(parseQuery(`continue=${token}`)));
    const page: Page = cutPage(select([all()], isWanted), { limit, tellsRemaining: true });
    pages.push(page);
    token = page.metadata.continue;
  }
  return pages;
}

function thingsOf(all: readonly (readonly [string, string])[]): readonly Thing[] {
  return all
    .map(([namespace, name]) => new Thing(name, { namespace }))
    .sort((a, b) => inOrder(keyOf(a), keyOf(b)));
}

function keysOf({ selection }: Page): readonly string[] {
  return selectedObjects(selection).map(keyOf);
}

function keyOf({ namespace, name }: ServedObject): string {
  return `${namespace} ${name}`; // a space sorts before everything that names have
}

function inOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
