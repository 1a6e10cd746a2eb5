import { expect } from 'chai';
import {
  type FoundJob,
  pendingJobs,
  readFoundJob,
  readFoundPod,
  runningJobs,
  summarizeJobs,
  surplusJobs,
} from '#lib/scaled-objects/jobs/job-state.ts';

describe('found Jobs', () => {
  const nowMs = Date.parse('2026-07-01T00:00:00Z');
  const job = (name: string, end?: 'Complete' | 'Failed', agoS = 0): FoundJob => ({
    metadata: { name },
    status: end
      ? {
          conditions: [
            { type: end, status: 'True', lastTransitionTime: new Date(nowMs - agoS * 1000).toISOString() },
          ],
        }
      : {},
  });
  const names = (jobs: readonly FoundJob[]) => jobs.map(({ metadata }) => metadata.name);

  it('are counted by state, and the newest fifty described, newest first', () => {
    const created = (one: FoundJob, agoS: number): FoundJob => ({
      ...one,
      metadata: { ...one.metadata, creationTimestamp: new Date(nowMs - agoS * 1000).toISOString() },
    });
    const jobs = [
      created(job('b', 'Complete', 10), 60),
      created(job('c', 'Failed', 30), 50),
      job('d'),
      created(job('a'), 60),
    ];
    expect(summarizeJobs(jobs, nowMs)).to.deep.equal({
      ...{ listedAtMs: nowMs, active: 2, complete: 1, failed: 1 },
      jobs: [
        { name: 'c', state: 'Failed', createdAtMs: nowMs - 50_000, endedAtMs: nowMs - 30_000 },
        { name: 'a', state: 'Active', createdAtMs: nowMs - 60_000, endedAtMs: undefined },
        { name: 'b', state: 'Complete', createdAtMs: nowMs - 60_000, endedAtMs: nowMs - 10_000 },
        { name: 'd', state: 'Active', createdAtMs: Number.NaN, endedAtMs: undefined },
      ],
    });
    const many = summarizeJobs(
      Array.from({ length: 51 }, (_, index) => job(`j${index}`)),
      nowMs,
    );
    expect([many.active, many.jobs.length]).to.deep.equal([51, 50]);
  });

  it('run until they end, and count for as long as the queue may have had their work', () => {
    const jobs = [job('a'), job('b', 'Complete', 10), job('c', 'Failed', 30)];
    expect(names(runningJobs(jobs, nowMs - 20_000))).to.deep.equal(['a', 'b']);
  });

  it('are pending without a working pod, or without one that has all the conditions', () => {
    const pod = (of: string, phase: string, ...types: string[]) => ({
      metadata: { name: of, labels: { 'job-name': of } },
      status: { phase, conditions: types.map((type) => ({ type, status: 'True' })) },
    });
    const jobs = [job('a'), job('b'), job('c')];
    const pods = [pod('a', 'Running', 'Ready'), pod('b', 'Pending')];
    expect(names(pendingJobs(jobs, pods, []))).to.deep.equal(['b', 'c']);
    expect(names(pendingJobs(jobs, pods, ['Ready', 'Ready']))).to.deep.equal(['b', 'c']);
    expect(names(pendingJobs(jobs, pods, ['Ready', 'PodScheduled']))).to.deep.equal(['a', 'b', 'c']);
  });

  it('go by their history, the oldest first, those that failed, too', () => {
    const jobs = [
      job('a', 'Complete', 1),
      job('b', 'Complete', 9),
      job('c', 'Failed', 5),
      job('d', 'Failed', 8),
      job('e'),
    ];
    expect(names(surplusJobs(jobs, { successful: 1, failed: 1 }))).to.deep.equal(['b', 'd']);
    expect(names(surplusJobs(jobs, { successful: 0, failed: 5 }))).to.deep.equal(['b', 'a']);
  });
});

describe('readFoundJob', () => {
  it('takes what counts, and nothing whose length a tenant chooses', () => {
    const job = {
      metadata: {
        ...{ namespace: 'shop', name: 'work-a', uid: 'u', deletionTimestamp: '2026-01-01T00:00:00Z' },
        annotations: { 'scaledjob.keda.sh/generation': '3', note: 'x'.repeat(1000) },
        labels: { 'scaledjob.keda.sh/name': 'work' },
      },
      spec: { template: { spec: { containers: [{ name: 'a', args: ['x'.repeat(1000)] }] } } },
      status: {
        completionTime: '2026-01-01T00:00:00Z',
        conditions: [
          { type: 'Complete', status: 'True', lastTransitionTime: 't', message: 'x'.repeat(1000) },
        ],
      },
    };
    expect(JSON.parse(JSON.stringify(readFoundJob(job)))).to.deep.equal({
      metadata: {
        ...{ namespace: 'shop', name: 'work-a', uid: 'u', deletionTimestamp: '2026-01-01T00:00:00Z' },
        annotations: { 'scaledjob.keda.sh/generation': '3' },
      },
      status: {
        completionTime: '2026-01-01T00:00:00Z',
        conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: 't' }],
      },
    });
    expect(() => readFoundJob({ metadata: {} })).to.throw('Cannot read object: no name');
  });
});

describe('readFoundPod', () => {
  it('takes what counts, and nothing whose length a tenant chooses', () => {
    const pod = {
      metadata: { name: 'work-a-1', labels: { 'job-name': 'work-a', note: 'x' } },
      spec: { nodeName: 'node-1', containers: [{ name: 'a', args: ['x'.repeat(1000)] }] },
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
        message: 'x'.repeat(1000),
      },
    };
    expect(JSON.parse(JSON.stringify(readFoundPod(pod)))).to.deep.equal({
      metadata: { name: 'work-a-1', labels: { 'job-name': 'work-a' } },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    });
  });
});
