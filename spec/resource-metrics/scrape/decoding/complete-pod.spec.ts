import { expect } from 'chai';
import {
  type ContainerReport,
  completePod,
  nameInterner,
  readAmount,
  readAmountOrZero,
  readTimeMs,
} from '#lib/resource-metrics/scrape/decoding/complete-pod.ts';
import { growthOf } from '#spec/reliability/foreign-text/growth.ts';
import { memoryInUse } from '#spec/support/open-resources.ts';
import { at, containerPoint } from '#spec/support/points.ts';

/** A container with only a start time. */
const silent = (name: string, startedSeconds: number | undefined): ContainerReport => ({
  ...containerPoint({ name, startedAtMs: startedSeconds === undefined ? undefined : at(startedSeconds) }),
  takenAtMs: undefined,
  cpuCoreNanoseconds: undefined,
  memoryBytes: undefined,
});
const running = (name: string, startedSeconds: number) =>
  containerPoint({ name, startedAtMs: at(startedSeconds) });

describe('completePod', () => {
  it('ignores an empty container that started before a running one', () => {
    const { containers, incompleteBecause } = completePod([silent('init', -20), running('app', -10)]);
    expect(containers.map(({ name }) => name)).to.deep.equal(['app']);
    expect(incompleteBecause).to.equal(undefined);
  });

  it('does so beside a sidecar that started earlier', () => {
    const { incompleteBecause } = completePod([
      running('sidecar', -30),
      silent('init', -20),
      running('app', -10),
    ]);
    expect(incompleteBecause).to.equal(undefined);
  });

  it('reports an incomplete pod if the empty container started last, at the same time or at an unknown time', () => {
    for (const seconds of [-5, -10, undefined]) {
      expect(completePod([running('app', -10), silent('late', seconds)]).incompleteBecause).to.match(
        /"late" has no/,
      );
    }
  });

  it('reports an incomplete pod if all containers are empty', () => {
    expect(completePod([silent('a', -20), silent('b', -10)]).incompleteBecause).to.match(/"a" has no/);
  });

  for (const others of [0, 30]) {
    it(`chooses the later start of two reports of one name, beside ${others} other containers`, () => {
      const beside = Array.from({ length: others }, (_, index) => running(`other-${index}`, -10));
      for (const lives of [
        [running('app', -20), running('app', -10)],
        [running('app', -10), running('app', -20)],
      ]) {
        const { containers } = completePod([...beside, ...lives]);
        expect(containers).to.deep.equal([...beside, running('app', -10)]);
      }
    });
  }

  it('accepts a pod without containers', () => {
    expect(completePod([])).to.deep.equal({ containers: [], incompleteBecause: undefined });
  });

  it('takes linear time for thousands of empty containers', async () => {
    const pod = (count: number) => [
      ...Array.from({ length: count }, (_, index) => silent(`silent-${index}`, -20)),
      ...Array.from({ length: count }, (_, index) => running(`running-${index}`, -30)),
      running('last', -10),
    ];
    expect(completePod(pod(1_000)).incompleteBecause).to.equal(undefined);
    const growth = await growthOf(completePod, { short: pod(313), long: pod(20_032), parts: 64 });
    expect(growth).to.include({ isLinear: true });
  });
});

/** Measures the memory retained by names of a length, in MiB. */
async function retainedMebibytes(count: number, length: number): Promise<number> {
  const before = await memoryInUse();
  const names = nameInterner();
  for (let index = 0; index < count; index++) names.intern(`${index}`.padEnd(length, 'x'));
  const heldMebibytes = ((await memoryInUse()) - before) / 2 ** 20;
  names.intern('retains the interner until here');
  return heldMebibytes;
}

describe('nameInterner', () => {
  it('shares at most twenty thousand names', async () => {
    expect(await retainedMebibytes(20_000, 253)).to.be.within(3, 12); // 5 to 6, less what the collector frees of others
    expect(await retainedMebibytes(100_000, 253)).to.be.below(12); // all names together take at least 28 MiB
  });

  it('does not share names longer than Kubernetes allows', async () => {
    expect(await retainedMebibytes(10_000, 254)).to.be.below(1);
  });
});

describe('readAmount', () => {
  it('accepts amounts between 0 and 2^63, exclusively', () => {
    const largest = 2 ** 63 - 1024; // the next double is 2^63
    for (const amount of [Number.MIN_VALUE, 0.5, 1, largest]) expect(readAmount(amount)).to.equal(amount);
    for (const none of [
      0,
      -0,
      -1,
      2 ** 63,
      Number.POSITIVE_INFINITY,
      Number.NaN,
      '5',
      5n,
      null,
      undefined,
      {},
    ])
      expect(readAmount(none)).to.equal(undefined);
  });
});

describe('readAmountOrZero', () => {
  it('also accepts 0', () => {
    for (const amount of [0, 1, 2 ** 63 - 1024]) expect(readAmountOrZero(amount)).to.equal(amount);
    for (const none of [-1, 2 ** 63, Number.NaN, '0', null, undefined])
      expect(readAmountOrZero(none)).to.equal(undefined);
  });
});

describe('readTimeMs', () => {
  it('accepts times between 1970 and 9999', () => {
    const last = Date.parse('9999-12-31T23:59:59.999Z');
    for (const timeMs of [1, last]) expect(readTimeMs(timeMs)).to.equal(timeMs);
    for (const none of [0, -1, Date.parse('0001-01-01T00:00:00Z'), last + 1, Number.NaN])
      expect(readTimeMs(none)).to.equal(undefined);
  });
});
