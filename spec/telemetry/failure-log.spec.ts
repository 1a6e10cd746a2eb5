import { expect } from 'chai';
import { FailureLog, type FailureLogOptions } from '#lib/telemetry/failure-log.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

type FailureLine = NonNullable<ReturnType<NonNullable<FailureLogOptions['lineOf']>>>;

const LINES: ReadonlyMap<string, FailureLine> = new Map([
  ['absent', { level: 'warning', message: 'Waiting for it' }],
  ['late', { level: 'info', message: 'It comes later' }],
  ['forbidden', { level: 'error', message: 'No permission' }],
]);

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

  it('logs a change of cause, with the message and level of the error', () => {
    const logger = new RecordingLogger();
    const log = new FailureLog({
      logger,
      failing: 'Cannot follow',
      causeOf: (error) => String(error),
      lineOf: (error) => LINES.get((error as Error).message),
    });
    for (const reason of ['refused', 'refused', 'absent', 'absent', 'late', 'forbidden', 'refused'])
      log.fail(new Error(reason));
    expect(logger.lines.map(({ level, message, fields }) => [level, message, fields.err])).to.deep.equal([
      ['error', 'Cannot follow', 'refused'],
      ['warning', 'Waiting for it', undefined],
      ['info', 'It comes later', undefined],
      ['error', 'No permission', 'forbidden'],
      ['error', 'Cannot follow', 'refused'],
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
