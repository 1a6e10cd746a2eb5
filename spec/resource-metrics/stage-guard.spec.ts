import { expect } from 'chai';
import { type Stage, StageGuard } from '#lib/resource-metrics/pipeline-observers.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

function setup() {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const failures: Stage[] = [];
  const guard = new StageGuard({ clock, logger, onFailure: (stage) => failures.push(stage) });
  const fail = () => {
    throw new Error('broken');
  };
  return { clock, fail, failures, guard, logger };
}

describe('StageGuard', () => {
  it('returns the result', () => {
    expect(setup().guard.contain('nodes', () => 7)).to.equal(7);
  });

  it('counts and logs errors', () => {
    const { fail, failures, guard, logger } = setup();
    expect(guard.contain('sink', fail)).to.equal(undefined);
    expect(failures).to.deep.equal(['sink']);
    const [line] = logger.lines;
    expect(logger.lines).to.have.length(1);
    expect(line).to.include({
      level: 'error',
      message: 'Pipeline stage failed with an internal error; other stages continue',
    });
    expect(line?.fields).to.include({ stage: 'sink', err: 'broken' });
    expect(line?.fields.stack).to.match(/^Error: broken\n +at fail .*stage-guard\.spec\.ts/);
  });

  it('logs at most one line per minute and stage', async () => {
    const { clock, fail, failures, guard, logger } = setup();
    for (let node = 0; node < 5000; node++) guard.contain('telemetry', fail);
    guard.contain('log', fail);
    await clock.advance(60_000);
    guard.contain('telemetry', fail);
    expect(failures).to.have.length(5002);
    expect(logger.lines.map(({ fields }) => fields.stage)).to.deep.equal(['telemetry', 'log', 'telemetry']);
  });
});
