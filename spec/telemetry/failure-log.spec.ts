import { expect } from 'chai';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

describe('FailureLog', () => {
  it('logs the first failure and the recovery, each once', () => {
    const logger = new RecordingLogger();
    const log = new FailureLog({ logger, failing: 'Cannot read', recovered: 'Read again' });
    log.succeed();
    for (const reason of ['first', 'second']) log.fail(new Error(reason), { file: 'a' });
    expect(log.isFailing).to.equal(true);
    log.succeed({ file: 'a' });
    log.succeed();
    expect(log.isFailing).to.equal(false);
    log.fail(new Error('third'));
    expect(logger.lines.map(({ level, message, fields }) => [level, message, fields.err])).to.deep.equal([
      ['error', 'Cannot read', 'first'],
      ['info', 'Read again', undefined],
      ['error', 'Cannot read', 'third'],
    ]);
  });

  it('logs a change of cause, and warnings', () => {
    const logger = new RecordingLogger();
    const log = new FailureLog({
      logger,
      failing: 'Cannot follow',
      causeOf: (error) => String(error),
      warningOf: (error) => (String(error).includes('absent') ? 'Waiting for it' : undefined),
    });
    for (const reason of ['refused', 'refused', 'absent', 'absent', 'refused']) log.fail(new Error(reason));
    expect(logger.lines.map(({ level, message }) => [level, message])).to.deep.equal([
      ['error', 'Cannot follow'],
      ['warning', 'Waiting for it'],
      ['error', 'Cannot follow'],
    ]);
  });

  it('logs no recovery without a message for it', () => {
    const logger = new RecordingLogger();
    const log = new FailureLog({ logger, failing: 'Cannot read' });
    log.fail(new Error('gone'));
    log.succeed();
    expect(logger.lines).to.have.length(1);
  });
});
