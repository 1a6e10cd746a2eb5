import { expect } from 'chai';
import { ListedSelectors } from '#lib/metrics-adapter/targets/target-selectors.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const resource = {
  ...{ group: 'apps', version: 'v1', kind: 'Deployment' },
  ...{ plural: 'deployments', namespaced: true },
};

describe('ListedSelectors', () => {
  it('has up to 20 read by themselves, and of more all others by one list', async () => {
    const { reads, lists, readMany } = setUp();
    expect(new Set(await readMany(20))).to.deep.equal(new Set(['itself']));
    expect(lists).to.deep.equal([]);
    const found = await readMany(1000);
    expect(found.slice(20)).to.deep.equal(Array.from({ length: 980 }, (_, index) => `app=w${index + 20}`));
    expect(lists).to.deep.equal(['/apis/apps/v1/deployments?limit=500']);
    expect(reads).to.have.length(40);
  });

  it('reads by themselves those that the list has not, or with a selector that selects every pod', async () => {
    const { readMany, items } = setUp();
    items.splice(500, 1);
    items[499] = { metadata: { namespace: 'shop', name: 'w499' }, spec: { selector: {} } };
    items[498] = 'no workload';
    const found = await readMany(1000);
    expect([497, 498, 499, 500, 501].map((index) => found[index])).to.deep.equal([
      ...['app=w497', 'itself', 'itself', 'itself'],
      'app=w501',
    ]);
  });

  it('reads all by themselves where listing is refused, and tries to list again after ten minutes', async () => {
    const { readMany, lists, clock, refuse } = setUp();
    refuse(true);
    expect(new Set(await readMany(100))).to.deep.equal(new Set(['itself']));
    refuse(false);
    await clock.advance(600_000 - 1);
    expect(new Set(await readMany(100))).to.deep.equal(new Set(['itself']));
    expect(lists).to.have.length(1);
    await clock.advance(1);
    expect((await readMany(100)).at(-1)).to.equal('app=w99');
    expect(lists).to.have.length(2);
  });

  it('lets a caller abort while it waits for a list', async () => {
    const { selectors, clock, hang } = setUp();
    hang();
    const gone = new AbortController();
    const waiting = Array.from({ length: 30 }, (_, index) =>
      selectors.read(
        { resource, namespace: 'shop', name: `w${index}` },
        { signal: gone.signal, readItself: () => new Promise(() => {}) },
      ),
    );
    const last = errorOf(waiting.at(-1) as Promise<string>);
    await clock.advance(1000);
    gone.abort(new Error('no response within 15s'));
    expect(await last).to.equal('no response within 15s');
    for (const one of waiting) one.catch(() => {});
  });
});

function setUp() {
  const clock = new ManualClock();
  const [lists, reads]: [string[], string[]] = [[], []];
  const items: unknown[] = Array.from({ length: 1000 }, (_, index) => ({
    metadata: { namespace: 'shop', name: `w${index}` },
    spec: { selector: { matchLabels: { app: `w${index}` } } },
  }));
  let [isRefused, isHanging] = [false, false];
  const client = {
    async getJson(path: string): Promise<unknown> {
      lists.push(path);
      if (isRefused) throw new Error('forbidden');
      if (isHanging) await new Promise(() => {});
      return { metadata: { resourceVersion: '1' }, items };
    },
  };
  const selectors = new ListedSelectors({ client, clock });
  const { signal } = new AbortController();
  const readMany = async (count: number) =>
    await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const name = `w${index}`;
        const readItself = async () => {
          reads.push(name);
          await Promise.resolve();
          return 'itself';
        };
        return await selectors.read({ resource, namespace: 'shop', name }, { signal, readItself });
      }),
    );
  return {
    ...{ selectors, clock, lists, reads, items, readMany },
    refuse: (whether: boolean) => {
      isRefused = whether;
    },
    hang: () => {
      isHanging = true;
    },
  };
}
