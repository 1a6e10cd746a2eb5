import { expect } from 'chai';
import { fuzz } from './fuzz.ts';
import { readKeptFailures } from './kept-failures.ts';
import { FUZZ_TARGETS } from './targets.ts';

/** To make a text smaller that takes long would go on for many minutes, and no runner ends what never pauses. */
const LONGEST_MS = 15_000;

describe('fuzzing', () => {
  const kept = readKeptFailures();

  for (const target of FUZZ_TARGETS) {
    it(`finds nothing that the ${target.name} cannot read or refuse`, async () => {
      const { failure } = await fuzz(target, {
        runs: 300,
        timeMs: LONGEST_MS,
        kept: kept[target.name] ?? [],
      });
      expect(failure, `${failure?.reason}: ${failure?.text.slice(0, 200)}`).to.equal(undefined);
    });
  }

  it('finds an error that is no refusal, and what takes too long', async () => {
    const careless = {
      name: 'careless',
      seeds: ['a=1'],
      read: (text: string) => (text.includes('\\') ? BigInt(text) : text),
      isRefusal: () => false,
    };
    expect((await fuzz(careless, { runs: 2_000, kept: ['\\'] })).failure).to.deep.include({ text: '\\' });
  });
});
