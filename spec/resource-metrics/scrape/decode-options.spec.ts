import { expect } from 'chai';
import { nameInterner } from '#lib/resource-metrics/scrape/decode-options.ts';
import { memoryInUse } from '#spec/support/held-resources.ts';

/** What is held of so many names of a length, in MiB. */
async function heldOf(count: number, length: number): Promise<number> {
  const before = await memoryInUse();
  const names = nameInterner();
  for (let index = 0; index < count; index++) names.intern(`${index}`.padEnd(length, 'x'));
  const heldMebibytes = ((await memoryInUse()) - before) / 2 ** 20;
  names.intern('so that it is held until here');
  return heldMebibytes;
}

describe('nameInterner', () => {
  it('holds twenty thousand names at most, however many come', async () => {
    expect(await heldOf(20_000, 253)).to.be.within(5, 12);
    expect(await heldOf(100_000, 253)).to.be.below(12); // all of them are 28 MiB and more
  });

  it('holds no name that is longer than Kubernetes allows', async () => {
    expect(await heldOf(10_000, 254)).to.be.below(1);
  });
});
