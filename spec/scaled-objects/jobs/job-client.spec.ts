import { expect } from 'chai';
import type { ScaledJob } from '#lib/scaled-objects/api/scaled-job.ts';
import { JobClient } from '#lib/scaled-objects/jobs/job-client.ts';

const WORK = { metadata: { namespace: 'shop', name: 'work' } } as ScaledJob;

describe('JobClient', () => {
  it('counts no Job that is to go already, and none of another ScaledJob', async () => {
    const asked: string[] = [];
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const items = [
      { metadata: { name: 'work-a' } },
      { metadata: { name: 'work-b', deletionTimestamp, finalizers: ['foregroundDeletion'] } },
      { metadata: { name: 'work-c' } },
    ];
    const api = {
      getJson: async (path: string) => {
        asked.push(path);
        return { metadata: { resourceVersion: '5' }, items };
      },
    };
    const client = new JobClient({ api: api as never, version: '1.2.3' });
    const found = await client.list(WORK, new AbortController().signal);
    expect(found.map(({ metadata }) => metadata.name)).to.deep.equal(['work-a', 'work-c']);
    expect(asked).to.deep.equal([
      '/apis/batch/v1/namespaces/shop/jobs?labelSelector=scaledjob.keda.sh%2Fname%3Dwork&limit=500',
    ]);
  });
});
