import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { formatExposition, formatGoFloat } from '#simulator/kubelet/exposition.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { runningPod, simulatedMachine } from '#spec/support/simulated-machine.ts';

describe('formatExposition', () => {
  it('has the families, order, labels and stamps that a kubelet gives', async () => {
    const clock = new ManualClock();
    const machine = simulatedMachine(clock);
    const containers = ['burn', 'side'];
    machine.start(runningPod(clock, { name: 'burner-7b8469d94f-wrk7k', containers }));
    machine.start(runningPod(clock, { name: 'burner-7b8469d94f-v2dlv', containers }));
    machine.start(runningPod(clock, { name: 'quiet', namespace: 'kube-system', containers: ['quiet'] }));
    await clock.advance(100_000);
    const recorded = readFileSync('spec/fixtures/kubelet/series/t0-metrics-resource.txt', 'utf8');
    expect(shapeOf(formatExposition(machine))).to.deep.equal(shapeOf(recorded));
  });

  it('has CPU in seconds and timestamps in milliseconds', async () => {
    const clock = new ManualClock();
    const machine = simulatedMachine(clock);
    machine.start(runningPod(clock));
    await clock.advance(100_000);
    const line = formatExposition(machine)
      .split('\n')
      .find((one) => one.startsWith('container_cpu_usage_seconds_total{'));
    const [, seconds, stampMs] = /} (\S+) (\d+)$/.exec(line ?? '') ?? [];
    expect(Number(seconds)).to.be.within(5.99, 6);
    expect(clock.nowMs() - Number(stampMs)).to.be.within(0, 8);
  });

  it('reports used swap of node, pods and containers', () => {
    const clock = new ManualClock();
    const machine = simulatedMachine(clock, { swapBytes: 100_000 });
    machine.start(runningPod(clock, { containers: ['c', 'd'], swapBytes: 4096 }));
    const text = formatExposition(machine);
    expect(text).to.match(/^container_swap_limit_bytes{container="c".*} 100000 \d+$/m);
    expect(text).to.match(/^container_swap_usage_bytes{container="c".*} 4096 \d+$/m);
    expect(text).to.match(/^pod_swap_usage_bytes{.*} 8192 \d+$/m);
    expect(text).to.match(/^node_swap_usage_bytes 8192 \d+$/m);
  });

  it('omits the families of containers and pods if there are none', () => {
    const text = formatExposition(simulatedMachine(new ManualClock()));
    expect(text).not.to.match(/container_|pod_/);
    expect(text).to.match(/\nresource_scrape_error 0\n$/);
  });
});

/** The lines without values; timestamps remain, if there are any. */
function shapeOf(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) =>
      line.startsWith('#') ? line : line.replace(/ \S+( \d{13})?$/, ' VALUE$1').replace(/\d{13}$/, 'STAMP'),
    );
}

describe('formatGoFloat', () => {
  // As recorded from a kubelet.
  for (const [value, text] of [
    [0, '0'],
    [495_616, '495616'],
    [25_640_960, '2.564096e+07'],
    [790_056_960, '7.9005696e+08'],
    [0.012046741, '0.012046741'],
    [3061.885831578, '3061.885831578'],
    [1_795_252_338.519669, '1.795252338519669e+09'],
    [1_000_000, '1e+06'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
  ] as const) {
    it(`writes ${text}`, () => expect(formatGoFloat(value)).to.equal(text));
  }

  it('loses nothing', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(formatGoFloat(value)) - value).to.equal(0);
      }),
    );
  });
});
