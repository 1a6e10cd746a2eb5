import { expect } from 'chai';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { runningPod, simulatedMachine } from '#spec/support/simulated-machine.ts';

describe('NodeMachine', () => {
  it("uses the sum of its system's and its pods' usage", async () => {
    const clock = new ManualClock();
    const machine = simulatedMachine(clock);
    machine.start(runningPod(clock));
    const before = machine.coreNanoseconds(clock.monotonicMs());
    await clock.advance(10_000);
    expect(machine.coreNanoseconds(clock.monotonicMs()) - before).to.equal(1_600_000_000);
    expect(machine.workingSetBytes(clock.monotonicMs())).to.equal((64 + 24) * 2 ** 20 + 901_120);
  });

  it('counts the usage of removed pods', async () => {
    const clock = new ManualClock();
    const machine = simulatedMachine(clock);
    let before = machine.coreNanoseconds(clock.monotonicMs());
    for (const name of ['a', 'b', 'c']) {
      const pod = runningPod(clock, { name });
      machine.start(pod);
      await clock.advance(70_000);
      machine.stop(pod.uid);
      const after = machine.coreNanoseconds(clock.monotonicMs());
      expect(after - before).to.equal(0.16 * 70e9);
      before = after;
    }
    expect([...machine.pods()]).to.deep.equal([]);
  });

  it("counts a pod's usage on this machine, not its earlier usage", async () => {
    const clock = new ManualClock();
    const machine = simulatedMachine(clock);
    const pod = runningPod(clock);
    await clock.advance(1_000_000);
    const before = machine.podsCoreNanoseconds(clock.monotonicMs());
    machine.start(pod, clock.monotonicMs());
    expect(machine.podsCoreNanoseconds(clock.monotonicMs())).to.equal(before);
  });

  it('computes usage at moments before a pod left', async () => {
    const clock = new ManualClock();
    const machine = simulatedMachine(clock);
    const pod = runningPod(clock);
    machine.start(pod);
    await clock.advance(10_000);
    const then = machine.podsCoreNanoseconds(clock.monotonicMs() - 5_000);
    machine.stop(pod.uid);
    await clock.advance(1_000);
    expect(machine.podsCoreNanoseconds(clock.monotonicMs() - 6_000)).to.equal(then);
  });
});
