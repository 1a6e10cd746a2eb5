import { expect } from 'chai';
import { fuzz } from './fuzz.ts';
import { readKeptFailures } from './kept-failures.ts';
import { FUZZ_TARGETS } from './targets.ts';

/** Enough to fail at what is easy to find; `make fuzz` goes on for minutes. */
const RUNS = 100;

/** The texts are the same in each run of the specs; `make fuzz` draws others. */
const SEED = 1;

/** Shrinking a text that takes long would go on for many minutes, and mocha cannot stop code that never yields. */
const MAX_TIME_MS = 15_000;

describe('fuzzing', () => {
  const kept = readKeptFailures();

  for (const target of FUZZ_TARGETS) {
    it(`finds nothing that the ${target.name} cannot read or refuse`, async () => {
      const { failure } = await fuzz(target, {
        runs: RUNS,
        seed: SEED,
        timeMs: MAX_TIME_MS,
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
    expect((await fuzz(careless, { runs: 2_000, seed: SEED, kept: ['\\'] })).failure).to.deep.include({
      text: '\\',
    });
  });
});
