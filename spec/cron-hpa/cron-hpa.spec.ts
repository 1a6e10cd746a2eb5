import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { adjustmentProblem, CRON_HPA_KIND, formatStatus, readCronHpa } from '#lib/cron-hpa/cron-hpa.ts';
import { NamespaceBudget } from '#lib/kubernetes/informer/namespace-budget.ts';
import { cronHpa, job, planAt } from '#spec/support/cron-hpas.ts';

const ADJUST_HPA_MIN = 'platform.stke/adjust-hpa-min';

const METADATA = { name: 'web', namespace: 'default', uid: 'u1', resourceVersion: '7' };
const TARGET = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const JOB = { name: 'night', schedule: '@daily', targetSize: 0 };
const CONDITION = {
  jobId: 'j1',
  name: 'night',
  schedule: '@daily',
  state: 'Submitted',
  lastProbeTime: '2026-01-01T00:00:00Z',
  submittedTime: '2026-01-01T00:00:00Z',
  specHash: 'abc',
};
const READY = {
  type: 'Ready',
  status: 'True',
  reason: 'Scheduled',
  message: '1 of 1 jobs are scheduled',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const object = (changes: object = {}, status?: unknown) => ({
  metadata: METADATA,
  spec: { scaleTargetRef: TARGET, jobs: [JOB], ...changes },
  status,
});

describe('readCronHpa', () => {
  it('fills in defaults', () => {
    const read = readCronHpa(object());
    expect(read).to.deep.include({ ...METADATA, annotations: {}, isBeingDeleted: false });
    expect(read?.spec).to.deep.equal({
      scaleTargetRef: TARGET,
      excludeDates: [],
      jobs: [{ ...JOB, runOnce: false, suspend: false, excludeDates: [] }],
    });
    expect(read?.status).to.deep.equal({ jobs: [], ready: undefined, scaleUpKeepWindow: false });
  });

  for (const [what, dateOf] of [
    ['with dates', () => '2026-12-25'],
    ['of the size that the API server accepts', (day) => `${1 + (day % 28)} 12 *`.padStart(80)],
  ] as readonly (readonly [string, (day: number) => string])[]) {
    it(`reads as many jobs and excluded dates as the definition allows, ${what}`, () => {
      const { jobs, excludeDates } = definedSpec();
      const dates = Array.from({ length: excludeDates.maxItems }, (_, day) => dateOf(day));
      const job = { ...JOB, timeZone: 'Europe/Berlin', runOnce: true, suspend: true, excludeDates: dates };
      expect(Object.keys(jobs.items.properties)).to.have.members(Object.keys(job));
      const all = Array.from({ length: jobs.maxItems }, (_, index) => ({ ...job, name: `job-${index}` }));
      const value = object({ startingDeadlineSeconds: 7, excludeDates: dates, jobs: all });
      expect(JSON.stringify(value).length).to.be.below(3 * 2 ** 20);
      const read = readCronHpa(value);
      expect(read?.problem).to.equal(undefined);
      expect(read?.spec.jobs.at(-1)?.excludeDates).to.have.length(
        jobs.items.properties.excludeDates.maxItems,
      );
    });
  }

  it('returns an empty spec, and no status, where they are too large or have too many values', () => {
    for (const excludeDates of [['x'.repeat(4.5 * 2 ** 20)], Array(38_000).fill(7)])
      expect(readCronHpa(object({ excludeDates }))).to.deep.include({
        ...{ problem: 'spec has more than 4.5 MiB or too many values' },
        spec: { scaleTargetRef: { apiVersion: '', kind: '', name: '' }, jobs: [], excludeDates: [] },
      });
    const status = (length: number) =>
      readCronHpa(object({}, { conditions: [{ ...CONDITION, message: 'x'.repeat(length) }] }))?.status.jobs;
    expect(status(520_000)).to.have.lengthOf(1);
    expect(status(524_288)).to.deep.equal([]);
  });

  it('describes what is invalid in a spec, and returns an empty one', () => {
    for (const [changes, problem] of [
      [{ jobs: [{ ...JOB, targetSize: -1 }] }, 'spec.jobs.0.targetSize is less than 0'],
      [{ jobs: [{ ...JOB, targetSize: 1.5 }] }, 'spec.jobs.0.targetSize is not of type int'],
      [{ jobs: Array(101).fill(JOB) }, 'spec.jobs has more than 100 items'],
      [{ startingDeadlineSeconds: -1 }, 'spec.startingDeadlineSeconds is less than 0'],
      [
        { scaleTargetRef: { kind: 'Deployment', name: 'web' } },
        'spec.scaleTargetRef.apiVersion is not of type string',
      ],
    ] as const) {
      const read = readCronHpa(object(changes));
      expect(read?.problem).to.equal(problem);
      expect(read?.spec.jobs).to.deep.equal([]);
    }
    expect(readCronHpa(object())?.problem).to.equal(undefined);
    expect(readCronHpa({ metadata: METADATA })?.problem).to.equal('spec is not of type object');
    for (const other of [undefined, 'text', {}, { metadata: { name: 'web' } }])
      expect(readCronHpa(other), JSON.stringify(other)).to.equal(undefined);
  });

  it('retains only its own annotation: others may take 256 kB', () => {
    const annotations = {
      [ADJUST_HPA_MIN]: 'true',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
    };
    const read = readCronHpa({ ...object(), metadata: { ...METADATA, annotations } });
    expect(read?.annotations).to.deep.equal({ [ADJUST_HPA_MIN]: 'true' });
  });

  it('retains no more of its own annotation than is necessary to recognize an invalid value', () => {
    const retained = (value: string) => {
      const metadata = { ...METADATA, annotations: { [ADJUST_HPA_MIN]: value } };
      return readCronHpa({ ...object(), metadata })?.annotations[ADJUST_HPA_MIN];
    };
    expect(retained('false')).to.equal('false');
    for (const value of [`true${'x'.repeat(100_000)}`, `false${' '.repeat(100_000)}`]) {
      expect(retained(value)).to.have.lengthOf.below(20);
      expect(adjustmentProblem({ annotations: { [ADJUST_HPA_MIN]: retained(value) ?? '' } })).to.be.a(
        'string',
      );
    }
  });

  it('returns interned texts, and the same object otherwise', () => {
    const status = {
      conditions: [{ ...CONDITION, message: 'm', lastActivationTime: '2026-01-01T00:00:00Z' }, READY],
    };
    const value = object({ jobs: [{ ...JOB, timeZone: 'UTC', excludeDates: ['2026-01-01'] }] }, status);
    const shared = new Set<string>();
    const read = readCronHpa(value, (text) => {
      shared.add(text);
      return text;
    });
    expect(read).to.deep.equal(readCronHpa(value));
    const common = ['default', 'apps/v1', 'Deployment', 'night', '@daily', 'UTC', '2026-01-01', 'Submitted'];
    expect(shared).to.include.keys(...common, CONDITION.submittedTime, READY.reason, READY.message);
    expect(shared).not.to.include.keys(METADATA.uid, METADATA.resourceVersion, CONDITION.jobId);
  });

  it('returns when a spec changed that the status does not reflect yet', () => {
    const changedAt = (generation: number | undefined, status?: unknown) => {
      const fields = { fieldsV1: { 'f:spec': {} }, time: '2026-01-01T00:00:09Z' };
      const metadata = { ...METADATA, generation, creationTimestamp: '2026-01-01T00:00:00Z' };
      return readCronHpa({ ...object({}, status), metadata: { ...metadata, managedFields: [fields] } })
        ?.specChangedAtMs;
    };
    const changedAtMs = Date.parse('2026-01-01T00:00:09Z');
    expect(changedAt(1)).to.equal(changedAtMs);
    for (const none of [{}, null, 'text']) expect(changedAt(1, none)).to.equal(changedAtMs);
    expect(changedAt(undefined, { observedGeneration: 3 })).to.equal(undefined);
    expect(changedAt(3, { observedGeneration: 2 })).to.equal(changedAtMs);
    expect(changedAt(3, { observedGeneration: 3 })).to.equal(undefined);
    const ofTke = { conditions: [{ jobId: 'j1', name: 'night', state: 'Succeed' }] };
    expect(changedAt(1, ofTke), 'another controller has seen to it').to.equal(undefined);
  });

  it('recognizes an object that is being deleted', () => {
    const metadata = { ...METADATA, deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(readCronHpa({ ...object(), metadata })).to.include({ isBeingDeleted: true });
  });

  it('separates the conditions of jobs from the standard one, and skips others', () => {
    const conditions = [{ type: 'Other', status: 'True' }, { ...CONDITION, message: 'm' }, READY];
    const { status } = readCronHpa(object({}, { conditions })) ?? {};
    expect(status?.jobs).to.deep.equal([{ ...CONDITION, message: 'm' }]);
    expect(status?.ready).to.deep.equal(READY);
  });

  it('treats a malformed status as absent', () => {
    const { status } = readCronHpa(object({}, { conditions: 3 })) ?? {};
    expect(status).to.deep.equal({ jobs: [], scaleUpKeepWindow: false });
  });
});

/** The schema of `spec` in the definition. */
function definedSpec() {
  const { spec } = parse(readFileSync('manifests/crds/cron-horizontal-pod-autoscaler.yaml', 'utf8'));
  return spec.versions[0].schema.openAPIV3Schema.properties.spec.properties;
}

describe('planJobs of a decoded object', () => {
  it('has the hashes that statuses already contain', () => {
    const jobs = [
      {
        suspend: true,
        timeZone: 'UTC',
        targetSize: 3,
        schedule: '@daily',
        name: 'a',
        excludeDates: ['* * SUN'],
      },
      { schedule: '@daily', name: 'b', targetSize: 0 },
    ];
    const decoded = readCronHpa(object({ excludeDates: ['2026-01-01'], jobs }));
    if (!decoded) throw new Error('It was not read');
    const hashes = planAt(decoded, '2026-07-15T10:00:00Z').map(({ specHash }) => specHash);
    expect(hashes).to.deep.equal(['i2n6FuBcGjxqyI81', 'gUGqtYrrccHupBuo']);
  });
});

describe('CRON_HPA_KIND', () => {
  it('bounds the specs of a namespace, and retains statuses', () => {
    const { budget } = CRON_HPA_KIND;
    const within = new NamespaceBudget(budget ?? expect.fail('there is no budget'));
    const excludeDates = Array.from({ length: 700 }, (_, index) => `${index} ${'x'.repeat(240)}`);
    const cached = (name: string, namespace = 'default') =>
      within.fit(
        `${namespace}/${name}`,
        cronHpa({ namespace, name, spec: { jobs: [job({ excludeDates })] } }),
      );
    const problems = Array.from({ length: 300 }, (_, index) => cached(`web-${index}`).problem);
    const fitting = problems.findIndex((problem) => problem !== undefined);
    expect(fitting).to.be.within(100, 200);
    expect(problems[fitting]).to.include('take more than 32 MiB');
    expect(cached('web-300').spec.jobs).to.deep.equal([]);
    expect(cached('web', 'other').problem).to.equal(undefined);
  });
});

describe('formatStatus', () => {
  it('lists conditions of jobs and the standard condition together', () => {
    const status = readCronHpa(object({}, { conditions: [READY, CONDITION] }))?.status;
    expect(status?.jobs).to.deep.equal([{ ...CONDITION, message: '' }]);
    if (status) expect(formatStatus(status).conditions).to.deep.equal([{ ...CONDITION, message: '' }, READY]);
  });

  it('is the inverse of readCronHpa', () => {
    const written = {
      conditions: [{ ...CONDITION, message: 'm', lastActivationTime: '2026-01-01T00:00:00Z' }, READY],
      scaleUpKeepWindow: true,
      nextScheduleTime: '2026-01-02T00:00:00Z',
      lastScheduleTime: '2026-01-01T00:00:00Z',
      lastResult: 'Succeed night',
      observedGeneration: 3,
    };
    const status = readCronHpa(object({}, written))?.status;
    if (!status) throw new Error('It was not read');
    expect(formatStatus(status)).to.deep.include(written);
  });
});
