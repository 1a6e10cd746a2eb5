import { expect } from 'chai';
import { type CycleOutcome, Manager } from '#lib/resource-metrics/manager.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

/**
 * @param cycles duration of each cycle in sequence, then 0; 'throws' for one that fails
 * @param overrunMs how much later an aborted cycle ends
 */
function setup({
  resolutionMs = 60_000,
  cycles = [],
  overrunMs = 0,
}: {
  resolutionMs?: number;
  cycles?: (number | 'throws')[];
  overrunMs?: number;
} = {}) {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const startedAtMs: number[] = [];
  const outcomes: CycleOutcome[] = [];
  const endedAtMs: number[] = [];
  const reasons: string[] = [];
  const manager = new Manager({
    clock,
    logger,
    resolutionMs,
    onCycle: (outcome) => outcomes.push(outcome),
    collect: async (signal) => {
      startedAtMs.push(clock.monotonicMs());
      const duration = cycles[startedAtMs.length - 1] ?? 0;
      if (duration === 'throws') throw new Error('broken');
      await clock.sleep(duration, { signal }).catch(async (error: Error) => {
        reasons.push(error.message);
        if (overrunMs > 0) await clock.sleep(overrunMs);
      });
      endedAtMs.push(clock.monotonicMs());
    },
  });
  const stop = new AbortController();
  const stopped = manager.run(stop.signal);
  return { clock, logger, manager, outcomes, reasons, endedAtMs, startedAtMs, stop, stopped };
}

describe('Manager', () => {
  for (const resolutionMs of [10_000, 15_000, 60_000, 300_000]) {
    it(`collects at once, after 12 s, and then at every resolution of ${resolutionMs / 1000} s`, async () => {
      const { clock, endedAtMs, startedAtMs } = setup({ resolutionMs });
      await clock.advance(12_000 + 3 * resolutionMs);
      expect(startedAtMs).to.deep.equal(
        [0, 1, 2, 3, 4].map((n) => (n === 0 ? 0 : 12_000 + (n - 1) * resolutionMs)),
      );
      expect(endedAtMs).to.have.length(5);
    });
  }

  it('ends a cycle when the next one is due', async () => {
    const { clock, outcomes, reasons, startedAtMs } = setup({ cycles: [0, 999_999] });
    await clock.advance(80_000);
    expect(reasons).to.deep.equal(['no response before the next cycle was due']);
    expect(startedAtMs).to.deep.equal([0, 12_000, 72_000]);
    expect(outcomes[1]).to.deep.equal({ durationMs: 60_000, skippedCycles: 0 });
  });

  it('ends the first cycle after 12 s, so that the second is on time', async () => {
    const { clock, startedAtMs } = setup({ cycles: [999_999] });
    await clock.advance(12_000);
    expect(startedAtMs).to.deep.equal([0, 12_000]);
  });

  it('starts a cycle on time after one that ended by its deadline', async () => {
    const { clock, logger, outcomes, startedAtMs } = setup({ cycles: [999_999], overrunMs: 8 });
    await clock.advance(80_000);
    expect(startedAtMs).to.deep.equal([0, 12_008, 72_000]);
    expect(outcomes[0]).to.deep.equal({ durationMs: 12_008, skippedCycles: 0 });
    expect(logger.lines).to.deep.equal([]);
  });

  it('skips and counts cycles missed during a stall, and returns to its schedule', async () => {
    const { clock, logger, outcomes, startedAtMs } = setupStalled(130_000);
    await clock.advance(400_000);
    expect(startedAtMs.slice(0, 4)).to.deep.equal([0, 12_000, 192_000, 252_000]);
    expect(outcomes[1]).to.deep.equal({ durationMs: 130_000, skippedCycles: 2 });
    expect(logger.lines[0]).to.deep.include({ level: 'warning', fields: { skippedCycles: 2 } });
  });

  it('gives the first cycle after a stall its full time', async () => {
    const { clock, logger, outcomes, reasons, startedAtMs } = setup({ cycles: [0, 0, 5_000] });
    await clock.advance(13_000);
    await clock.jump(127_000); // the cycles at 72 s and 132 s are due
    await clock.advance(120_000);
    expect(startedAtMs).to.deep.equal([0, 12_000, 140_000, 200_000, 260_000]);
    expect(outcomes.map(({ durationMs, skippedCycles }) => [durationMs, skippedCycles])).to.deep.equal([
      ...[
        [0, 0],
        [0, 0],
        [5_000, 1],
        [0, 0],
        [0, 0],
      ], // counted once
    ]);
    expect(reasons).to.deep.equal([]);
    expect(logger.lines).to.deep.equal([
      {
        level: 'warning',
        message: 'Event loop stalled',
        fields: { forSeconds: 68, skippedCycles: 1 },
        verbosity: 0,
      },
    ]);
  });

  it('continues after a failed cycle, and logs the error', async () => {
    const { clock, logger, startedAtMs } = setup({ cycles: ['throws'] });
    await clock.advance(12_000);
    expect(startedAtMs).to.have.length(2);
    expect(logger.lines).to.deep.equal([
      { level: 'error', message: 'Cannot complete scrape cycle', fields: { err: 'broken' }, verbosity: 0 },
    ]);
  });

  it('stops during and between cycles, and leaves no timer', async () => {
    for (const cycles of [[999_999], [0]]) {
      const { clock, logger, stop, stopped } = setup({ cycles });
      await clock.advance(5000);
      stop.abort(new Error('shutting down'));
      await stopped;
      expect(clock.sleeperCount).to.equal(0);
      expect(logger.lines).to.deep.equal([]);
    }
  });

  it('is timely at resolutions shorter than the time to the second cycle', async () => {
    const { clock, manager } = setup({ resolutionMs: 5_000 });
    for (let second = 0; second < 30; second++) {
      expect(manager.isTimely, `after ${second} s`).to.equal(true);
      await clock.advance(1_000);
    }
  });

  it('is timely until a cycle is half a resolution overdue', async () => {
    const { clock, manager } = setupStalled(200_000);
    expect(manager.isTimely).to.equal(true);
    await clock.advance(12_000 + 90_000);
    expect(manager.isTimely).to.equal(true);
    await clock.advance(1);
    expect(manager.isTimely).to.equal(false);
    await clock.advance(150_000);
    expect(manager.isTimely).to.equal(true);
  });
});

/** A manager whose second cycle ignores its signal, as under SIGSTOP. */
function setupStalled(durationMs: number) {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const startedAtMs: number[] = [];
  const outcomes: CycleOutcome[] = [];
  const manager = new Manager({
    clock,
    logger,
    resolutionMs: 60_000,
    onCycle: (outcome) => outcomes.push(outcome),
    collect: async () => {
      startedAtMs.push(clock.monotonicMs());
      if (startedAtMs.length === 2) await clock.sleep(durationMs);
    },
  });
  void manager.run(new AbortController().signal);
  return { clock, logger, manager, outcomes, startedAtMs };
}
