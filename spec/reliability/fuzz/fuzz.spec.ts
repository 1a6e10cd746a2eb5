import { expect } from 'chai';
import { fuzz } from './fuzz.ts';
import { readRecordedFailures } from './recorded-failures.ts';
import { FUZZ_TARGETS } from './targets.ts';

/** Enough to find simple faults; `make fuzz` runs for minutes. */
const RUNS = 100;

/** Each run of the specs has the same texts; `make fuzz` generates others. */
const SEED = 1;

/** Shrinking an expensive text would take many minutes, and mocha cannot interrupt synchronous code. */
const MAX_TIME_MS = 15_000;

describe('fuzzing', () => {
  const retained = readRecordedFailures();

  for (const target of FUZZ_TARGETS) {
    it(`finds no text that the ${target.name} neither reads nor rejects`, async () => {
      const { failure } = await fuzz(target, {
        runs: RUNS,
        seed: SEED,
        timeMs: MAX_TIME_MS,
        retained: retained[target.name] ?? [],
      });
      expect(failure, `${failure?.reason}: ${failure?.text.slice(0, 200)}`).to.equal(undefined);
    });
  }

  it('finds an unexpected error, and a text that takes too long', async () => {
    const careless = {
      name: 'careless',
      seeds: ['a=1'],
      read: (text: string) => (text.includes('\\') ? BigInt(text) : text),
      isRefusal: () => false,
    };
    expect((await fuzz(careless, { runs: 2_000, seed: SEED, retained: ['\\'] })).failure).to.deep.include({
      text: '\\',
    });
  });
});
