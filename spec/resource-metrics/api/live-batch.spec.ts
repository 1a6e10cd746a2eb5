import { expect } from 'chai';
import { LiveBatch } from '#lib/resource-metrics/api/live-batch.ts';

describe('LiveBatch', () => {
  const live = new Map<string, object>();
  let revision = Number.NaN;
  let looks = 0;
  const batchOf = (...names: readonly string[]) =>
    new LiveBatch(
      names.map((name) => ({ name })),
      {
        revision: () => revision,
        liveOf: ({ name }) => {
          looks++;
          return live.get(name);
        },
      },
      ({ name }, alive) => ({ name, alive }),
    );

  beforeEach(() => {
    live.clear();
    revision = Number.NaN;
    looks = 0;
    for (const name of ['a', 'b', 'c']) live.set(name, {});
  });

  it('has the metrics of what lives, in the order given', () => {
    live.delete('b');
    expect(batchOf('a', 'b', 'c').current()).to.deep.equal([
      { name: 'a', alive: live.get('a') },
      { name: 'c', alive: live.get('c') },
    ]);
  });

  it('tells how much is to be looked up before it is current', () => {
    revision = 1;
    const batch = batchOf('a', 'b');
    expect(batch.pending).to.equal(2);
    batch.current();
    expect(batch.pending).to.equal(0);
    revision = 2;
    expect(batch.pending).to.equal(2);
  });

  it('stays the same array for as long as what lives stays the same', () => {
    const batch = batchOf('a', 'b');
    const first = batch.current();
    live.set('c', {}); // has no usage
    expect(batch.current()).to.equal(first);
  });

  it('is made anew when something that lives has changed, has gone or has come', () => {
    const batch = batchOf('a', 'b');
    live.delete('b');
    const names = () => batch.current().map(({ name }) => name);
    const first = batch.current();
    const changed = {};
    live.set('a', changed);
    expect(batch.current()).not.to.equal(first);
    expect(batch.current()).to.deep.equal([{ name: 'a', alive: changed }]);
    live.set('b', {});
    expect(names()).to.deep.equal(['a', 'b']);
    live.delete('a');
    expect(names()).to.deep.equal(['b']);
  });

  it('looks only when something has changed since', () => {
    revision = 1;
    const batch = batchOf('a', 'b');
    batch.current();
    batch.current();
    expect(looks).to.equal(2);
    revision = 2;
    batch.current();
    batch.current();
    expect(looks).to.equal(4);
  });
});
