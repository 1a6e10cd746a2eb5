import { expect } from 'chai';
import fc from 'fast-check';
import { parseQuery } from '#lib/apiserver/http/query-values.ts';
import { parseListOptions } from '#lib/apiserver/resources/list-options.ts';
import {
  buildMatcher,
  cutPage,
  formatContinueToken,
  isBehind,
  type Page,
  parseContinueToken,
} from '#lib/apiserver/resources/list-page.ts';
import { select, selectedObjects } from '#lib/apiserver/resources/selection.ts';
import type { ServedObject } from '#lib/apiserver/resources/served-object.ts';
import { Thing } from '#spec/support/served-things.ts';

describe('buildMatcher', () => {
  const web = { app: 'web' };
  const things = [
    new Thing('a', { namespace: 'n', labels: web }),
    new Thing('b', { namespace: 'n', labels: web }),
    new Thing('c', { namespace: 'n', labels: { app: 'db' } }),
    new Thing('d', { labels: web }),
  ];
  const expected = (query: string) => {
    const isWanted = buildMatcher(parseListOptions(parseQuery(query)));
    return isWanted && things.filter(isWanted).map(({ name }) => name);
  };

  it('matches everything without selectors', () => {
    expect(expected('limit=5')).to.equal(undefined);
    expect(expected('labelSelector=&fieldSelector=')).to.equal(undefined);
  });

  it('matches objects of both selectors', () => {
    expect(expected('labelSelector=app%3Dweb')).to.deep.equal(['a', 'b', 'd']);
    expect(expected('fieldSelector=metadata.name!%3Da')).to.deep.equal(['b', 'c', 'd']);
    expect(expected('fieldSelector=metadata.namespace%3D')).to.deep.equal(['d']);
    expect(expected('labelSelector=app%3Dweb&fieldSelector=metadata.namespace%3Dn')).to.deep.equal([
      'a',
      'b',
    ]);
  });

  it('caches no response for other labels', () => {
    expect(expected('labelSelector=app+in+(db)')).to.deep.equal(['c']);
  });
});

describe('parseContinueToken', () => {
  it('reads its own tokens, which need no escaping in a URL', () => {
    const part = fc.stringMatching(/^[a-z0-9.-]{1,20}$/);
    fc.assert(
      fc.property(fc.option(part, { nil: '' }), part, (namespace, name) => {
        const token = formatContinueToken({ namespace, name });
        expect(token).to.match(/^[\w-]+$/);
        expect(parseContinueToken(token)).to.deep.equal({ namespace, name });
      }),
    );
  });

  const encode = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64url');
  const malformed = [
    'abc',
    '%%%',
    encode(null),
    encode('n/a'),
    encode({ v: 'meta.k8s.io/v1' }),
    encode({ v: 'meta.k8s.io/v2', start: 'n/a' }),
    encode({ v: 'meta.k8s.io/v1', start: 'a' }),
    encode({ v: 'meta.k8s.io/v1', start: 'n/' }),
    encode({ v: 'meta.k8s.io/v1', start: 'n/a/b' }),
  ];
  for (const token of malformed) {
    it(`refuses ${Buffer.from(token, 'base64url').toString()}`, () => {
      expect(() => parseContinueToken(token))
        .to.throw('invalid continue token: continue key is not valid')
        .that.includes({ code: 400, reason: 'BadRequest' });
    });
  }
});

describe('isBehind', () => {
  it('compares by namespace, then by name', () => {
    const position = { namespace: 'm', name: 'b' };
    const of = (namespace: string | undefined, name: string) => isBehind({ namespace, name }, position);
    expect([of('m', 'c'), of('n', 'a'), of('m-2', 'a')]).to.deep.equal([true, true, true]);
    expect([of('m', 'b'), of('m', 'a'), of('l', 'c'), of(undefined, 'c')]).to.deep.equal([
      false,
      false,
      false,
      false,
    ]);
  });
});

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

  it('continues after the last object, whatever is added or deleted between two pages', () => {
    fc.assert(
      fc.property(keys, keys, fc.integer({ min: 1, max: 5 }), (before, after, limit) => {
        let requested = 0;
        const listed = pagesOf(() => thingsOf(requested++ === 0 ? before : after), limit).flatMap(keysOf);
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

  it('has no number of remaining objects with a selector', () => {
    const things = thingsOf([
      ['n', 'a'],
      ['n', 'b'],
    ]);
    const { metadata } = cutPage(select([things]), { limit: 1, countsRemaining: false });
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
      expect(cutPage(selection, { limit, countsRemaining: true })).to.deep.equal({ selection, metadata: {} });
    }
  });
});

/** Every page, each requested with the token of the previous one. */
function pagesOf(all: () => readonly Thing[], limit: number): readonly Page[] {
  const pages: Page[] = [];
  let token: string | undefined = '';
  while (token !== undefined) {
    const isWanted = buildMatcher(parseListOptions(parseQuery(`continue=${token}`)));
    const page: Page = cutPage(select([all()], isWanted), { limit, countsRemaining: true });
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
  return `${namespace} ${name}`; // a space sorts before all characters of names
}

function inOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
