import { expect } from 'chai';
import { rollOut } from '#lib/scaled-objects/jobs/roll-out.ts';
import { compileScaledJob } from '#lib/scaled-objects/preparation/prepared-scaled-job.ts';
import { errorOf } from '#spec/support/error-of.ts';

describe('rollOut', () => {
  const { signal } = new AbortController();
  const job = (name: string, generation?: string) => ({
    metadata: {
      name,
      ...(generation && { annotations: { 'scaledjob.keda.sh/generation': generation } }),
    },
  });
  const JOBS = [job('a', '1'), job('b', '2'), job('c')];
  const rolledOut = async (spec: object, { jobs = JOBS, refused = '' } = {}) => {
    const done: string[] = [];
    const own = {
      normal: (reason: string, message: string) => done.push(`${reason} ${message}`),
      warning: (reason: string, message: string) => done.push(`Warning ${reason} ${message}`),
    };
    const client = {
      list: async () => jobs,
      delete: async ({ metadata: { name } }: { metadata: { name: string } }, policy: string) => {
        if (name === refused) throw new Error('refused');
        done.push(`${policy} ${name}`);
      },
    };
    const object = { metadata: { name: 'work', generation: 2 }, spec: { triggers: [], ...spec } } as never;
    const error = await errorOf(
      rollOut(object, {
        prepared: compileScaledJob(object),
        jobs: client as never,
        own: own as never,
        signal,
      }),
    );
    return error === 'no error' ? done : [...done, error];
  };
  const begun =
    'ScaledJobRolloutCleanupStarted Deleting 2 jobs owned by the previous version of the scaledJob';
  const ended =
    'ScaledJobRolloutCleanupCompleted Deleted 2 jobs owned by the previous version of the scaledJob';

  it('deletes the Jobs of other generations in the background, and reports the start and the end', async () => {
    for (const spec of [{}, { rolloutStrategy: 'default' }, { rollout: { propagationPolicy: 'background' } }])
      expect(await rolledOut(spec)).to.deep.equal([begun, 'Background a', 'Background c', ended]);
  });

  it('waits for their pods if the policy is foreground', async () => {
    expect(await rolledOut({ rollout: { propagationPolicy: 'foreground' } })).to.deep.equal([
      ...[begun, 'Foreground a', 'Foreground c', ended],
    ]);
  });

  it('lets them finish if the strategy is gradual, and reports nothing if there are none', async () => {
    expect(await rolledOut({ rolloutStrategy: 'gradual' })).to.deep.equal([]);
    expect(await rolledOut({ rollout: { strategy: 'gradual' } })).to.deep.equal([]);
    const both = { rolloutStrategy: 'default', rollout: { strategy: 'gradual' } };
    expect(await rolledOut(both)).to.have.lengthOf(4);
    expect(await rolledOut({}, { jobs: JOBS.slice(1, 2) })).to.deep.equal([]);
  });

  it('names the Job that could not be deleted, and fails', async () => {
    expect(await rolledOut({}, { refused: 'c' })).to.deep.equal([
      ...[begun, 'Background a'],
      'Warning ScaledJobRolloutCleanupFailed Failed to delete job c: refused',
      'refused',
    ]);
  });
});
