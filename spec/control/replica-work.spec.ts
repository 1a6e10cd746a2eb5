import { expect } from 'chai';
import { ReplicaWork } from '#lib/control/replica-work.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import { eventually } from '#spec/support/eventually.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

describe('ReplicaWork', () => {
  it('logs a failure, and is not alive from then on', async () => {
    const logger = new RecordingLogger();
    const failing = Promise.withResolvers<void>();
    await using work = new ReplicaWork({ name: 'followers', logger, run: () => failing.promise });
    const { healthCheck } = work;
    expect(healthCheck).to.deep.include({ name: 'followers', endpoints: ['livez'] });
    work.start();
    expect(healthCheck.check()).to.equal(undefined);
    failing.reject(new Error('informers are closed'));
    await eventually(() => healthCheck.check() !== undefined);
    expect(healthCheck.check()).to.equal('the work of this replica has failed; see the log');
    expect(logger.lines).to.deep.equal([
      {
        ...{ level: 'error', verbosity: 0, message: 'Work of this replica failed; failing /livez' },
        fields: { work: 'followers', err: 'informers are closed' },
      },
    ]);
  });

  it('ends with its disposal, which is no failure', async () => {
    const logger = new RecordingLogger();
    const work = new ReplicaWork({
      ...{ name: 'followers', logger },
      run: async (signal) => await raceAbort(new Promise<never>(() => {}), signal),
    });
    work.start();
    await work[Symbol.asyncDispose]();
    expect(work.healthCheck.check()).to.equal(undefined);
    expect(logger.lines).to.deep.equal([]);
  });
});
