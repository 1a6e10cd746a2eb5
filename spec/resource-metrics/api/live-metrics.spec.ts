import { expect } from 'chai';
import fc from 'fast-check';
import { TimeSlices } from '#lib/concurrency/event-loop.ts';
import { LiveMetrics, NameOrder } from '#lib/resource-metrics/api/live-metrics.ts';

describe('LiveMetrics', () => {
  const slices = new TimeSlices();
  const live = new Map<string, object>();
  let revision = Number.NaN;
  let checks = 0;
  const metricsOf = (...names: readonly string[]) =>
    new LiveMetrics(new Map(names.map((name) => [name, { name }])), {
      order: new NameOrder(),
      revision: () => revision,
      liveOf: ({ name }) => {
        checks++;
        return live.get(name);
      },
      make: ({ name }, alive) => ({ name, alive }),
    });

  beforeEach(() => {
    live.clear();
    revision = Number.NaN;
    checks = 0;
    for (const name of ['a', 'b', 'c']) live.set(name, {});
  });

  it('has the metrics of live objects by name', () => {
    live.delete('b');
    expect(metricsOf('c', 'b', 'a').current()).to.deep.equal([
      { name: 'a', alive: live.get('a') },
      { name: 'c', alive: live.get('c') },
    ]);
  });

  it('returns the number of pending lookups', () => {
    revision = 1;
    const metrics = metricsOf('a', 'b');
    expect(metrics.pending).to.equal(2);
    metrics.current();
    expect(metrics.pending).to.equal(0);
    revision = 2;
    expect(metrics.pending).to.equal(2);
  });

  it('returns the same array while live objects are unchanged', () => {
    const metrics = metricsOf('a', 'b');
    const first = metrics.current();
    live.set('c', {}); // has no usage
    expect(metrics.current()).to.equal(first);
  });

  it('returns a new array after a live object changed, was deleted or created', () => {
    const metrics = metricsOf('a', 'b');
    live.delete('b');
    const names = () => metrics.current().map(({ name }) => name);
    const first = metrics.current();
    const changed = {};
    live.set('a', changed);
    expect(metrics.current()).not.to.equal(first);
    expect(metrics.current()).to.deep.equal([{ name: 'a', alive: changed }]);
    live.set('b', {});
    expect(names()).to.deep.equal(['a', 'b']);
    live.delete('a');
    expect(names()).to.deep.equal(['b']);
  });

  it('looks up objects only after a change', () => {
    revision = 1;
    const metrics = metricsOf('a', 'b');
    metrics.current();
    metrics.current();
    expect(checks).to.equal(2);
    revision = 2;
    metrics.current();
    metrics.current();
    expect(checks).to.equal(4);
  });

  describe('currentInSlices', () => {
    const names = Array.from({ length: 5_000 }, (_, index) => `pod-${index}`);
    beforeEach(() => {
      revision = 1;
      for (const name of names) live.set(name, {});
    });

    it('creates the metrics once for concurrent callers, in time slices', async () => {
      const metrics = metricsOf(...names);
      let isDone = false;
      const calls = [1, 2].map(() => metrics.currentInSlices(slices));
      const done = Promise.all(calls).then((results) => {
        isDone = true;
        return results;
      });
      await slices.yieldToEventLoop();
      expect(isDone).to.equal(false);
      const [first, second] = await done;
      expect(checks).to.equal(5_000);
      expect([second, metrics.current(), await metrics.currentInSlices(slices)]).to.deep.equal([
        first,
        first,
        first,
      ]);
      expect(first).to.deep.equal(metricsOf(...names).current());
    });

    it('returns the same array while live objects are unchanged', async () => {
      const metrics = metricsOf(...names);
      const first = metrics.current();
      revision = 2;
      expect(await metrics.currentInSlices(slices)).to.equal(first);
      expect(metrics.pending).to.equal(0);
    });

    it('returns the result of a concurrent synchronous call', async () => {
      const metrics = metricsOf(...names);
      const slow = metrics.currentInSlices(slices);
      await slices.yieldToEventLoop();
      live.delete('pod-0');
      revision = 2;
      const current = metrics.current();
      expect(await slow).to.equal(current);
      expect(current).to.have.lengthOf(4_999);
    });

    it('looks up objects again after a change in the meantime', async () => {
      const metrics = metricsOf(...names);
      const slow = metrics.currentInSlices(slices);
      await slices.yieldToEventLoop();
      live.delete('pod-0');
      revision = 2;
      await slow;
      expect(await metrics.currentInSlices(slices)).to.have.lengthOf(4_999);
    });
  });
});

const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'B', 'é', '\u{1f600}', 'web-10', 'web-2'));

describe('NameOrder', () => {
  it('sorts by name, regardless of earlier names', () => {
    fc.assert(
      fc.property(fc.array(names), (times) => {
        const order = new NameOrder();
        for (const each of times) {
          const named = new Map(each.map((name) => [name, { name }]));
          expect(order.sort(named)).to.deep.equal(each.toSorted().map((name) => named.get(name)));
        }
      }),
    );
  });
});
