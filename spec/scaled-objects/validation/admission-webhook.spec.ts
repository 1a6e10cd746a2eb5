import { expect } from 'chai';
import type { ScaledObject } from '#lib/scaled-objects/api/scaled-object.ts';
import { compileScaledObject } from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';
import { TriggerTypes } from '#lib/scaled-objects/triggers/trigger-registry.ts';
import { reviewScaledObject, unknownTypeWarnings } from '#lib/scaled-objects/validation/admission-webhook.ts';
import { admissionReview } from '#spec/support/admission-reviews.ts';
import { collectGarbage } from '#spec/support/open-resources.ts';
import {
  PATHS,
  type ScaledObjectsCluster,
  startScaledObjectsCluster,
} from '#spec/support/scaled-objects-cluster.ts';

const CPU = { type: 'cpu', metricType: 'Utilization', metadata: { value: '50' } };
const CRON = { type: 'cron', name: 'nine', metadata: { timezone: 'UTC' } };

describe('Admission', () => {
  it('rejects what the controller rejects, with the reason only', async () => {
    await using cluster = await startScaledObjectsCluster();
    await cluster.deployment('web', 1);
    await cluster.deployment('bare', 1);
    await cluster.scaledObject('first', { scaleTargetRef: { name: 'web' }, triggers: [CRON] });
    await cluster.create(PATHS.hpas, hpa('someones', 'bare'));
    await started(cluster);
    const modifiers = { scalingModifiers: { formula: 'nine +', target: '2' } };
    for (const [spec, message] of [
      [{}, "the workload 'web' of type 'apps/v1.Deployment' is already managed by the ScaledObject 'first'"],
      [
        { ...target('other'), advanced: { horizontalPodAutoscalerConfig: { name: 'keda-hpa-first' } } },
        "the HPA 'keda-hpa-first' is already managed by the ScaledObject 'first'",
      ],
      [
        target('bare'),
        "the workload 'bare' of type 'apps/v1.Deployment' is already managed by the hpa 'someones'",
      ],
      [
        { ...target('other'), minReplicaCount: 3, maxReplicaCount: 2 },
        'MinReplicaCount=3 must be less than MaxReplicaCount=2',
      ],
      [
        { ...target('other'), triggers: [CRON, CRON] },
        'triggerName "nine" is defined multiple times in the ScaledObject/ScaledJob, but it must be unique',
      ],
      [{ ...target('other'), triggers: [] }, 'no triggers defined in the ScaledObject/ScaledJob'],
      [
        { ...target('other'), triggers: Array(101).fill(CRON) },
        'the ScaledObject/ScaledJob has 101 triggers, maximum allowed is 100',
      ],
    ] as const) {
      const { allowed, status } = await review(cluster, 'CREATE', scaledObject(spec));
      expect(allowed, message).to.equal(false);
      expect(status).to.deep.equal({ status: 'Failure', code: 403, reason: 'Forbidden', message });
    }
    const formula = await review(
      cluster,
      'CREATE',
      scaledObject({ ...target('other'), advanced: modifiers }),
    );
    expect(formula.allowed).to.equal(false);
    expect(formula.status.message).to.match(/^error trying to compile custom formula: /);
    expect(await cluster.series()).to.include(
      'keda_webhook_scaled_object_validation_errors_total{namespace="default",action="create",reason="scaling-modifiers"} 1',
    );
    expect(await cluster.series()).to.include(
      'keda_webhook_scaled_object_validations_total{namespace="default",action="create"} 8',
    );
  });

  it('allows adopting an HPA by its name', async () => {
    await using cluster = await startScaledObjectsCluster();
    await cluster.deployment('web', 1);
    await cluster.create(PATHS.hpas, hpa('someones', 'web'));
    await started(cluster);
    const annotations = { 'scaledobject.keda.sh/transfer-hpa-ownership': 'true' };
    const unnamed = await review(cluster, 'CREATE', scaledObject({}, { annotations }));
    expect(unnamed.status.message).to.equal(
      "the existing hpa 'someones' for workload 'web' of type 'apps/v1.Deployment' must be specified by name in advanced settings to enable ownership transfer",
    );
    const advanced = { horizontalPodAutoscalerConfig: { name: 'someones' } };
    expect(await review(cluster, 'CREATE', scaledObject({ advanced }, { annotations }))).to.deep.equal({
      ...{ uid: unnamed.uid, allowed: true },
    });
  });

  it('requires requests for cpu and memory triggers, except in a dry run', async () => {
    await using cluster = await startScaledObjectsCluster();
    await cluster.deployment('web', 1);
    await cluster.deployment('small', 1, { resources: { requests: { cpu: '100m' } } });
    await started(cluster);
    const requests = (name: string) => scaledObject({ ...target(name), minReplicaCount: 1, triggers: [CPU] });
    expect((await review(cluster, 'CREATE', requests('web'))).status.message).to.equal(
      "the scaledobject has a cpu trigger but the container main doesn't have the cpu request defined",
    );
    expect((await review(cluster, 'CREATE', requests('small'))).allowed).to.equal(true);
    expect((await review(cluster, 'CREATE', requests('web'), { dryRun: true })).allowed).to.equal(true);
    expect((await review(cluster, 'CREATE', requests('later'))).allowed).to.equal(true); // it may be created later
  });

  it('does not reject updates of the older of two objects, deletions, and objects before it is synced', async () => {
    await using cluster = await startScaledObjectsCluster();
    await cluster.deployment('web', 1);
    await cluster.scaledObject('first', { scaleTargetRef: { name: 'web' }, triggers: [CRON] });
    await cluster.clock.advance(2000);
    await cluster.scaledObject('second', { scaleTargetRef: { name: 'web' }, triggers: [CRON] });
    await started(cluster);
    const [first, second] = [
      await cluster.get(`${PATHS.scaledObjects}/first`),
      await cluster.get(`${PATHS.scaledObjects}/second`),
    ];
    const finalizers = ['finalizer.keda.sh'];
    const marked = { ...second, metadata: { ...second.metadata, finalizers } };
    const unmarked = { ...second, metadata: { ...second.metadata, finalizers: [] } };
    const changed = { ...unmarked, spec: { ...second.spec, maxReplicaCount: 7 } };
    const leaving = {
      ...changed,
      metadata: { ...second.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    for (const [object, oldObject, isAllowed] of [
      [first, first, true],
      [second, second, true],
      [unmarked, marked, true],
      [changed, marked, false],
      [leaving, marked, true],
    ] as const)
      expect((await review(cluster, 'UPDATE', object, { oldObject })).allowed).to.equal(isAllowed);
    expect((await review(cluster, 'UPDATE', second, { oldObject: second })).warnings).to.deep.equal([
      "the workload 'web' of type 'apps/v1.Deployment' is already managed by the ScaledObject 'first'",
    ]);
    expect(await cluster.series()).to.include(
      '{namespace="default",action="update",reason="other-scaled-object"} 1',
    );
    expect((await review(cluster, 'DELETE', null)).allowed).to.equal(true);
    await cluster.stop();
    let early: Awaited<ReturnType<typeof review>> | undefined;
    await cluster.lead(async () => {
      early = await review(cluster, 'CREATE', scaledObject({}));
    });
    expect(early?.allowed).to.equal(true);
    expect(early?.warnings).to.have.lengthOf(1);
  });

  it('allows finalizers, pauses and labels of invalid stored objects, with a warning', async () => {
    await using cluster = await startScaledObjectsCluster();
    await started(cluster);
    const auth = { podIdentity: { provider: 'aws', roleArn: 'arn', identityOwner: 'workload' } };
    for (const [kind, spec, message] of [
      [
        'ScaledObject',
        { ...target('web'), triggers: [CRON], minReplicaCount: 3, maxReplicaCount: 2 },
        /^MinReplicaCount=3 must be less/,
      ],
      ['ScaledJob', { jobTargetRef: {}, triggers: [CRON, CRON] }, /^triggerName "nine" is defined multiple/],
      ['TriggerAuthentication', auth, /^roleArn of PodIdentity can't be set/],
    ] as const) {
      const path = `/validate-keda-sh-v1alpha1-${kind.toLowerCase()}`;
      const of = (metadata: object, more: object = {}) => ({
        ...{ apiVersion: 'keda.sh/v1alpha1', kind, spec: { ...spec, ...more } },
        metadata: { name: 'broken', namespace: 'default', ...metadata },
      });
      for (const metadata of [
        { finalizers: ['finalizer.keda.sh'] },
        { annotations: { 'autoscaling.keda.sh/paused': 'true' } },
        { labels: { 'scaledobject.keda.sh/name': 'broken' } },
      ]) {
        const { allowed, warnings } = await review(cluster, 'UPDATE', of(metadata), {
          oldObject: of({}),
          path,
        });
        expect(allowed, `${kind} ${Object.keys(metadata)}`).to.equal(true);
        expect(warnings[0]).to.match(message);
      }
      const changed = await review(cluster, 'UPDATE', of({}), {
        oldObject: of({}, { maxReplicaCount: 9 }),
        path,
      });
      expect(changed.allowed, kind).to.equal(false);
      const created = await review(cluster, 'CREATE', of({}), { oldObject: of({}), path });
      expect(created.allowed, kind).to.equal(false);
    }
  });

  it('warns about settings without effect, and unknown types', async () => {
    await using cluster = await startScaledObjectsCluster();
    await started(cluster);
    const triggers = [{ type: 'kafka', metadata: {} }];
    const spec = { minReplicaCount: 1, pollingInterval: 10, cooldownPeriod: 10, triggers };
    const { allowed, warnings } = await review(cluster, 'CREATE', scaledObject(spec));
    expect(allowed).to.equal(true);
    expect(warnings.map((text: string) => text.slice(0, 40))).to.deep.equal([
      'PollingInterval is configured but is not',
      'CooldownPeriod is configured but is not ',
      'no scaler found for type: kafka; support',
    ]);
    for (const warning of warnings) expect(warning.length).to.be.at.most(256);
  });

  it('reviews ScaledJobs by their triggers', async () => {
    await using cluster = await startScaledObjectsCluster();
    await started(cluster);
    const path = '/validate-keda-sh-v1alpha1-scaledjob';
    const job = (triggers: readonly object[]) => ({
      ...{
        apiVersion: 'keda.sh/v1alpha1',
        kind: 'ScaledJob',
        metadata: { name: 'work', namespace: 'default' },
      },
      spec: { jobTargetRef: {}, triggers },
    });
    expect((await review(cluster, 'CREATE', job([CRON]), { path })).allowed).to.equal(true);
    const cached = [{ ...CRON, useCachedMetrics: true }];
    expect((await review(cluster, 'CREATE', job(cached), { path })).status.message).to.equal(
      'property "useCachedMetrics" is not supported for "cron" scaler',
    );
    expect((await review(cluster, 'CREATE', job(Array(101).fill(CRON)), { path })).status.message).to.equal(
      'the ScaledObject/ScaledJob has 101 triggers, maximum allowed is 100',
    );
  });

  it('reviews authentications, and warns about clouds and vaults', async () => {
    await using cluster = await startScaledObjectsCluster();
    await started(cluster);
    for (const kind of ['TriggerAuthentication', 'ClusterTriggerAuthentication']) {
      const path = `/validate-keda-sh-v1alpha1-${kind.toLowerCase()}`;
      const of = (spec: object) => ({
        ...{ apiVersion: 'keda.sh/v1alpha1', kind, metadata: { name: 'a' }, spec },
      });
      const good = { secretTargetRef: [{ parameter: 'password', name: 's', key: 'k' }] };
      expect((await review(cluster, 'CREATE', of(good), { path })).allowed).to.equal(true);
      const aws = { podIdentity: { provider: 'aws', roleArn: 'arn', identityOwner: 'workload' } };
      const refused = await review(cluster, 'UPDATE', of(aws), { path });
      expect(refused.status.message).to.equal(
        "roleArn of PodIdentity can't be set if KEDA isn't identityOwner",
      );
      expect(refused.warnings).to.deep.equal(['The object uses podIdentity aws, which is not supported']);
    }
  });

  it('rejects reviews of other kinds, and other bodies', async () => {
    await using cluster = await startScaledObjectsCluster();
    await started(cluster);
    const { admission } = cluster.subsystem;
    const path = '/validate-keda-sh-v1alpha1-scaledobject';
    const object = scaledObject({});
    const bodies: readonly (readonly [string, RegExp])[] = [
      ['', /not JSON/],
      ['[', /not JSON/],
      ['{}', /not an AdmissionReview/],
      [
        JSON.stringify({ ...admissionReview('CREATE', object), apiVersion: 'admission.k8s.io/v1beta1' }),
        /not an Adm/,
      ],
      [
        JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' }),
        /not an AdmissionReview/,
      ],
      [JSON.stringify(admissionReview('CREATE', null)), /not a valid ScaledObject/],
      [
        JSON.stringify(admissionReview('CREATE', { ...object, spec: 7 } as never)),
        /not a valid ScaledObject/,
      ],
      [JSON.stringify(admissionReview('UPDATE', object)), /not a valid ScaledObject/],
      [
        JSON.stringify(admissionReview('CREATE', scaledObject({ triggers: [{ type: 1 }] }))),
        /not a valid ScaledObject/,
      ],
      [`${'['.repeat(200)}`, /not JSON/],
      [`[${'{},'.repeat(60_000)}{}]`, /not JSON/],
    ];
    for (const [body, message] of bodies) {
      const response = await admission.review(path, Buffer.from(body)).catch((error: Error) => error.message);
      expect(response).to.match(message);
    }
  });
});

describe('Admission, called by other clients than an API server', () => {
  it('caches no namespaces and names of invalid length', async () => {
    await using cluster = await startScaledObjectsCluster();
    await started(cluster);
    const { admission } = cluster.subsystem;
    const retainedBytes = () => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const refusals = new Set<unknown>();
    const beforeBytes = retainedBytes();
    for (let at = 0; at < 16; at++) {
      const long = `${at}`.padEnd(2_900_000, 'x');
      for (const metadata of [{ namespace: long }, { name: long }, { uid: long }]) {
        const body = Buffer.from(JSON.stringify(admissionReview('CREATE', scaledObject({}, metadata))));
        refusals.add(
          await admission
            .review('/validate-keda-sh-v1alpha1-scaledobject', body)
            .catch((error: Error) => error.message),
        );
      }
    }
    expect([...refusals]).to.deep.equal(['the object of the request is not a valid ScaledObject']);
    expect(retainedBytes() - beforeBytes).to.be.below(16 * 2 ** 20);
    expect((await cluster.series()).length).to.be.below(2 ** 20);
  }).timeout(300_000);
});

const target = (name: string) => ({ scaleTargetRef: { name } });

function scaledObject(spec: object, metadata: object = {}) {
  return {
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    metadata: { name: 'new', namespace: 'default', ...metadata },
    spec: { ...target('web'), triggers: [CRON], ...spec },
  };
}

function hpa(name: string, of: string) {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: of };
  return {
    ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name } },
    spec: { scaleTargetRef, maxReplicas: 3 },
  };
}

/** Watches all objects without changing any. */
async function started(cluster: ScaledObjectsCluster): Promise<void> {
  await cluster.lead(() => cluster.untilMet(() => cluster.subsystem.isSynced));
}

async function review(
  cluster: ScaledObjectsCluster,
  operation: string,
  object: { readonly kind?: string } | null,
  options: { readonly oldObject?: object; readonly dryRun?: boolean; readonly path?: string } = {},
): Promise<ReturnType<typeof JSON.parse>> {
  const { path = '/validate-keda-sh-v1alpha1-scaledobject', ...more } = options;
  const body = Buffer.from(JSON.stringify(admissionReview(operation, object, more)));
  return JSON.parse(JSON.stringify(await cluster.subsystem.admission.review(path, body))).response;
}

const OBJECT: ScaledObject = {
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    ...{ scaleTargetRef: { name: 'web' }, minReplicaCount: 1 },
    triggers: [{ type: 'cpu', metricType: 'Utilization', metadata: { value: '50' } }],
  },
};

describe('reviewScaledObject', () => {
  for (const [what, containers, limits, isAllowed, isRequested] of [
    ['requests', ['cpu'], [], true, false],
    ['a LimitRange', [], ['cpu'], true, true],
    ['a LimitRange of something else', [], ['memory'], false, true],
    ['nothing', [], [], false, true],
    ['what is not known in time', [], undefined, true, true],
  ] as const) {
    it(`${isAllowed ? 'takes' : 'refuses'} a cpu trigger with ${what}, and reads LimitRanges only if necessary`, async () => {
      const requested: string[] = [];
      const verdict = await reviewScaledObject(
        OBJECT,
        { before: undefined, isDryRun: false },
        {
          overlapping: () => [],
          overlappingHpas: () => [],
          workload: () => ({
            ...{ replicas: 1, readyReplicas: 1 },
            containers: [{ name: 'main', resources: containers }],
          }),
          async limitedByDefault(namespace) {
            requested.push(namespace);
            if (!limits) throw new Error('too late');
            return limits;
          },
        },
      );
      expect(verdict.isAllowed).to.equal(isAllowed);
      expect(verdict.rule).to.equal(isAllowed ? undefined : 'missing-requests');
      expect(requested).to.deep.equal(isRequested ? ['shop'] : []);
    });
  }

  it('allows cpu and memory triggers if the defaults of containers are not available in time', async () => {
    const trigger = (type: string) =>
      ({ type, metricType: 'Utilization', metadata: { value: '50' } }) as const;
    for (const type of ['cpu', 'memory']) {
      const object = { ...OBJECT, spec: { ...OBJECT.spec, triggers: [trigger(type)] } };
      const { isAllowed } = await reviewScaledObject(
        object,
        { before: undefined, isDryRun: false },
        {
          ...{ overlapping: () => [], overlappingHpas: () => [] },
          workload: () => ({ replicas: 1, readyReplicas: 1, containers: [{ name: 'main', resources: [] }] }),
          limitedByDefault: () => Promise.reject(new Error('too late')),
        },
      );
      expect(isAllowed, type).to.equal(true);
    }
  });

  for (const [what, before, after, other, isAllowed] of [
    ['is pointed at the target of a younger one', one('api'), one('web'), younger('web'), false],
    ['is given the HPA of a younger one', one('web'), one('web', 'b'), younger('api', 'b'), false],
    ['has the target that a younger one wants, too', one('web'), one('web', 'b'), younger('web'), true],
    ['gives its target up to a younger one', one('web'), one('api'), younger('web'), true],
    ['has the target of an older one', one('web'), one('web', 'b'), older('web'), false],
  ] as const) {
    it(`${isAllowed ? 'allows' : 'rejects'} the update of an object that ${what}`, async () => {
      const { isAllowed: isTaken } = await reviewScaledObject(
        after,
        { before, isDryRun: false },
        {
          overlapping: () => [compileScaledObject(other)],
          overlappingHpas: () => [],
          workload: () => undefined,
          limitedByDefault: async () => [],
        },
      );
      expect(isTaken).to.equal(isAllowed);
    });
  }
});

/** An object of February. */
function one(target: string, hpa = 'a', name = 'one', month = '02'): ScaledObject {
  return {
    metadata: { name, namespace: 'shop', uid: name, creationTimestamp: `2026-${month}-01T00:00:00Z` },
    spec: {
      scaleTargetRef: { name: target },
      triggers: [{ type: 'cron', metadata: {} }],
      advanced: { horizontalPodAutoscalerConfig: { name: hpa } },
    },
  };
}

function younger(target: string, hpa = 'c'): ScaledObject {
  return one(target, hpa, 'younger', '03');
}

function older(target: string, hpa = 'c'): ScaledObject {
  return one(target, hpa, 'older', '01');
}

/** The maximum that the limit of a review's values permits. */
const MANY = 24_900;

describe('unknownTypeWarnings', () => {
  it('names each unknown type once', () => {
    const { warnings } = check(['kafka', 'cron', 'pulsar', 'kafka']);
    expect(warnings).to.deep.equal([
      'no scaler found for type: kafka; supported types are cron',
      'no scaler found for type: pulsar; supported types are cron',
    ]);
  });

  it('checks one type once for any number of triggers', () => {
    const { warnings, checks } = check(Array<string>(MANY).fill('kafka'));
    expect(warnings).to.have.length(1);
    expect(checks).to.equal(1);
  });

  it('stops at the limit of warnings', () => {
    const { warnings, checks } = check(Array.from({ length: MANY }, (_, at) => `type-${at}`));
    expect(warnings).to.have.length(10);
    expect(checks).to.equal(10);
  });

  it('finds the unknown type after all known ones', () => {
    expect(check([...Array<string>(MANY).fill('cron'), 'kafka']).warnings).to.have.length(1);
  });
});

function check(names: readonly string[]) {
  const existing = new TriggerTypes([{ types: ['cron'] } as never]);
  let checks = 0;
  const types: Pick<TriggerTypes, 'get'> = {
    get(type) {
      checks++;
      return existing.get(type);
    },
  };
  const warnings = unknownTypeWarnings(
    names.map((type) => ({ type, metadata: {} })),
    types,
  );
  return { warnings, checks };
}
