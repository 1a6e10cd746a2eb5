import { expect } from 'chai';
import { type ContainerReport, completePod } from '#lib/resource-metrics/scrape/complete-pod.ts';
import { growthOf } from '#spec/reliability/foreign-text/growth.ts';
import { at, containerPoint } from '#spec/support/points.ts';

/** A container that said nothing but its start. */
const silent = (name: string, startedSeconds: number | undefined): ContainerReport => ({
  ...containerPoint({ name, startedAtMs: startedSeconds === undefined ? undefined : at(startedSeconds) }),
  takenAtMs: undefined,
  cpuCoreNanoseconds: undefined,
  memoryBytes: undefined,
});
const running = (name: string, startedSeconds: number) =>
  containerPoint({ name, startedAtMs: at(startedSeconds) });

describe('completePod', () => {
  it('takes a silent container that started before a running one for a finished init container', () => {
    const { containers, incompleteBecause } = completePod([silent('init', -20), running('app', -10)]);
    expect(containers.map(({ name }) => name)).to.deep.equal(['app']);
    expect(incompleteBecause).to.equal(undefined);
  });

  it('does so beside a sidecar that started earlier still', () => {
    const { incompleteBecause } = completePod([
      running('sidecar', -30),
      silent('init', -20),
      running('app', -10),
    ]);
    expect(incompleteBecause).to.equal(undefined);
  });

  it('leaves the pod incomplete when the silent container started last, at the same time, or nobody knows when', () => {
    for (const seconds of [-5, -10, undefined]) {
      expect(completePod([running('app', -10), silent('late', seconds)]).incompleteBecause).to.match(
        /"late" has no/,
      );
    }
  });

  it('leaves a pod of silent containers incomplete', () => {
    expect(completePod([silent('a', -20), silent('b', -10)]).incompleteBecause).to.match(/"a" has no/);
  });

  for (const others of [0, 30]) {
    it(`takes the later of two lives under one name, beside ${others} other containers`, () => {
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

  it('finds no lack in a pod without containers', () => {
    expect(completePod([])).to.deep.equal({ containers: [], incompleteBecause: undefined });
  });

  it('takes linear time for thousands of silent containers, of which the last to start outlives all', async () => {
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
