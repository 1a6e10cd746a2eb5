import { expect } from 'chai';
import { OwnWrites } from '#lib/cron-hpa/own-writes.ts';
import { cronHpa } from '#spec/support/cron-hpas.ts';

const KEY = 'default/web';

describe('OwnWrites', () => {
  const [first, second, third] = ['1', '2', '3'].map((resourceVersion) => cronHpa({ resourceVersion }));
  if (!first || !second || !third) throw new Error('there are three');

  it('knows what was written while the informer shows what was there before', () => {
    const writes = new OwnWrites();
    writes.record(KEY, second);
    expect(writes.latest(KEY, first)).to.equal(second);
    writes.record(KEY, third);
    expect(writes.latest(KEY, first)).to.equal(third);
    expect(writes.latest(KEY, second)).to.equal(third);
  });

  it('takes what the informer shows once that is later, or another object of the name', () => {
    const writes = new OwnWrites();
    writes.record(KEY, second);
    expect(writes.latest(KEY, third)).to.equal(third);
    expect(writes.latest(KEY, second)).to.equal(third); // what was shown once is not taken back
    const other = cronHpa({ uid: 'uid-2' });
    expect(writes.latest(KEY, other)).to.equal(other);
    writes.record(KEY, second);
    expect(writes.latest(KEY, undefined)).to.equal(undefined);
    expect(writes.latest(KEY, first)).to.equal(first);
  });

  it('holds what the informer shows in place of its own copy as soon as that is shown', () => {
    const writes = new OwnWrites();
    writes.record(KEY, second);
    writes.show(KEY, first); // from before
    expect(writes.latest(KEY, first)).to.equal(second);
    const shown = cronHpa({ resourceVersion: '2' });
    writes.show(KEY, shown);
    expect(writes.latest(KEY, first)).to.equal(shown);
    writes.show(KEY, undefined);
    expect(writes.latest(KEY, first)).to.equal(first);
  });

  it('takes what the informer shows where versions cannot be compared', () => {
    const writes = new OwnWrites();
    writes.record(KEY, second);
    const opaque = cronHpa({ resourceVersion: 'b7' });
    expect(writes.latest(KEY, opaque)).to.equal(opaque);
  });

  it('tells its own versions from those of others', () => {
    const writes = new OwnWrites();
    expect(writes.isOurs(KEY, first)).to.equal(false);
    writes.record(KEY, second);
    expect(writes.isOurs(KEY, first)).to.equal(false);
    expect(writes.isOurs(KEY, second)).to.equal(true);
  });

  it('goes on to know which versions are overtaken when the informer falls back behind what it has shown', () => {
    const writes = new OwnWrites();
    writes.record(KEY, second);
    const shown = cronHpa({ resourceVersion: '2' });
    expect(writes.latest(KEY, shown)).to.equal(shown);
    expect(writes.latest(KEY, first)).to.equal(shown); // and holds what was shown, not a second copy
    expect(writes.isOurs(KEY, shown)).to.equal(true);
  });
});
