import { expect } from 'chai';
import { PipelineObservers, type Stage, StageGuard } from '#lib/resource-metrics/pipeline-observers.ts';
import type { ScrapeOutcome } from '#lib/resource-metrics/scrape/scraper.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

const SCRAPE: ScrapeOutcome = {
  nodeName: 'a',
  startedAtMs: 0,
  durationMs: 5,
  error: undefined,
  ignored: [],
};
const CYCLE = { durationMs: 7, skippedCycles: 0 };

function setup() {
  const observed: unknown[] = [];
  const failures: Stage[] = [];
  const guard = new StageGuard({
    clock: new ManualClock(),
    logger: new RecordingLogger(),
    onFailure: (stage) => failures.push(stage),
  });
  const broken = () => {
    throw new Error('broken');
  };
  const observers = new PipelineObservers(guard, [
    { stage: 'telemetry', onScrape: broken, onCycle: broken, retain: broken },
    { stage: 'sink', onScrape: ({ nodeName }) => observed.push(nodeName) },
    { stage: 'log', onCycle: ({ durationMs }) => observed.push(durationMs) },
    { stage: 'debug', retain: (isLive) => observed.push(['a', 'b'].filter(isLive)) },
  ]);
  return { failures, observers, observed };
}

describe('PipelineObservers', () => {
  it('notifies observers of scrapes even if others throw', () => {
    const { failures, observers, observed } = setup();
    observers.scraped(SCRAPE);
    expect(observed).to.deep.equal(['a']);
    expect(failures).to.deep.equal(['telemetry']);
  });

  it('notifies observers of the end of a cycle, and removes nodes that are gone', () => {
    const { failures, observers, observed } = setup();
    observers.cycleEnded(CYCLE, (name) => name === 'b');
    expect(observed).to.deep.equal([7, ['b']]);
    expect(failures).to.deep.equal(['telemetry', 'telemetry']);
  });
});
