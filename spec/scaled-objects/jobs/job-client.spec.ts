import { expect } from 'chai';
import type { ScaledJob } from '#lib/scaled-objects/api/scaled-job.ts';
import { JobClient, newJob } from '#lib/scaled-objects/jobs/job-client.ts';

const WORK = { metadata: { namespace: 'shop', name: 'work' } } as ScaledJob;

describe('JobClient', () => {
  it('counts no Job that is to go already, and none of another ScaledJob', async () => {
    const requested: string[] = [];
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const items = [
      { metadata: { name: 'work-a' } },
      { metadata: { name: 'work-b', deletionTimestamp, finalizers: ['foregroundDeletion'] } },
      { metadata: { name: 'work-c' } },
    ];
    const api = {
      getJson: async (path: string) => {
        requested.push(path);
        return { metadata: { resourceVersion: '5' }, items };
      },
    };
    const client = new JobClient({ api: api as never, reader: api as never, version: '1.2.3' });
    const found = await client.list(WORK, new AbortController().signal);
    expect(found.map(({ metadata }) => metadata.name)).to.deep.equal(['work-a', 'work-c']);
    expect(requested).to.deep.equal([
      '/apis/batch/v1/namespaces/shop/jobs?labelSelector=scaledjob.keda.sh%2Fname%3Dwork&limit=500',
    ]);
  });
});

const LONG = 'x'.repeat(64);

describe('newJob', () => {
  it('has the fields of the ScaledJob, and the label that selects it', () => {
    const object = {
      metadata: {
        ...{ name: 'work', namespace: 'shop', uid: 'u', generation: 3 },
        labels: { team: 'a', 'keep/out': 'b', secret: 'c', 'app.kubernetes.io/name': 'written over' },
        annotations: {
          'scaledjob.keda.sh/job-excluded-labels': 'keep/out,secret',
          'kubectl.kubernetes.io/last-applied-configuration': '{}',
          note: 'd',
        },
      },
      spec: {
        jobTargetRef: {
          backoffLimit: 4,
          template: {
            metadata: { labels: { tier: 'back' }, annotations: { e: 'f' } },
            spec: { containers: [], restartPolicy: 'Never' },
          },
        },
        triggers: [],
      },
    };
    expect(newJob(object, 'v1.2+build 3')).to.deep.equal({
      metadata: {
        ...{ generateName: 'work-', namespace: 'shop' },
        labels: {
          ...{ team: 'a', 'app.kubernetes.io/name': 'work', 'app.kubernetes.io/part-of': 'work' },
          ...{ 'app.kubernetes.io/version': 'v1.2-build-3', 'scaledjob.keda.sh/name': 'work' },
          'app.kubernetes.io/managed-by': 'keda-operator',
        },
        annotations: {
          ...{ 'scaledjob.keda.sh/job-excluded-labels': 'keep/out,secret', note: 'd' },
          'scaledjob.keda.sh/generation': '3',
        },
        ownerReferences: [
          {
            ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledJob', name: 'work', uid: 'u' },
            ...{ controller: true, blockOwnerDeletion: true },
          },
        ],
      },
      spec: {
        backoffLimit: 4,
        template: {
          metadata: {
            ...{ generateName: 'work-', annotations: { e: 'f' } },
            labels: { tier: 'back', 'scaledjob.keda.sh/name': 'work' },
          },
          spec: { containers: [], restartPolicy: 'Never' },
        },
      },
    });
  });

  it('needs nothing of all that, and cuts labels to what labels may be', () => {
    const job = newJob(
      { metadata: { name: LONG, uid: 'u' }, spec: { jobTargetRef: {}, triggers: [] } },
      LONG,
    );
    const cut = 'x'.repeat(63);
    const { labels, annotations, namespace } = job.metadata;
    expect(labels).to.include({ 'app.kubernetes.io/name': cut, 'app.kubernetes.io/version': cut });
    expect(labels).to.include({ 'app.kubernetes.io/part-of': cut });
    expect([annotations, namespace]).to.deep.equal([{ 'scaledjob.keda.sh/generation': '0' }, '']);
    expect(job.spec).to.deep.equal({
      template: {
        metadata: { generateName: `${LONG}-`, labels: { 'scaledjob.keda.sh/name': LONG } },
        spec: { restartPolicy: 'OnFailure' },
      },
    });
  });
});
