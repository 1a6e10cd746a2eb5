import { expect } from 'chai';
import type { ScaledObject } from '#lib/scaled-objects/api/scaled-object.ts';
import { compileScaledObject } from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';
import type { PreparedTriggers } from '#lib/scaled-objects/preparation/prepared-triggers.ts';
import { desiredHpa } from '#lib/scaled-objects/scaling/desired-hpa.ts';

const SELECTOR = { matchLabels: { 'scaledobject.keda.sh/name': 'web' } };
const FORMULA = { scalingModifiers: { formula: 'queue + 1', target: '2.5' } };

describe('desiredHpa', () => {
  it('has the labels and annotations of its object, but for those that are left out, and belongs to it', () => {
    const { metadata } = hpaOf(
      {},
      {
        labels: { team: 'a', secret: 'b', 'app.kubernetes.io/part-of': 'shop' },
        annotations: {
          'scaledobject.keda.sh/hpa-excluded-labels': 'secret,other',
          'kubectl.kubernetes.io/last-applied-configuration': '{}',
          note: 'c',
        },
      },
    );
    expect(metadata).to.deep.include({ name: 'keda-hpa-web', namespace: 'default' });
    expect(metadata.labels).to.deep.equal({
      'app.kubernetes.io/name': 'keda-hpa-web',
      'app.kubernetes.io/version': '1.2.3-x',
      'app.kubernetes.io/part-of': 'shop',
      'app.kubernetes.io/managed-by': 'keda-operator',
      team: 'a',
    });
    expect(metadata.annotations).to.deep.equal({
      'scaledobject.keda.sh/hpa-excluded-labels': 'secret,other',
      note: 'c',
    });
    expect(metadata.ownerReferences).to.deep.equal([
      {
        ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name: 'web', uid: 'u' },
        ...{ controller: true, blockOwnerDeletion: true },
      },
    ]);
    const name = `${'a'.repeat(62)}-b`;
    const advanced = { horizontalPodAutoscalerConfig: { name } };
    expect(hpaOf({ advanced }).metadata).to.deep.include({ name });
    expect(hpaOf({ advanced }).metadata.labels['app.kubernetes.io/name']).to.equal('a'.repeat(62));
  });

  for (const [what, spec, annotations, expected] of [
    ['1 to 100 replicas where nothing is said', {}, {}, { minReplicas: 1, maxReplicas: 100 }],
    [
      '1 where the minimum is 0',
      { minReplicaCount: 0, maxReplicaCount: 7 },
      {},
      { minReplicas: 1, maxReplicas: 7 },
    ],
    ['the minimum, whatever rests idle', { minReplicaCount: 3, idleReplicaCount: 0 }, {}, { minReplicas: 3 }],
    [
      'the behavior that is given',
      behavior(60),
      {},
      { behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } },
    ],
    [
      'no way down while that is paused',
      behavior(60),
      { 'autoscaling.keda.sh/paused-scale-in': 'true' },
      { behavior: { scaleDown: { stabilizationWindowSeconds: 60, selectPolicy: 'Disabled' } } },
    ],
    [
      'no way up while that is paused',
      {},
      { 'autoscaling.keda.sh/paused-scale-out': 'true' },
      { behavior: { scaleUp: { selectPolicy: 'Disabled' } } },
    ],
  ] as const)
    it(`has ${what}`, () => {
      expect(hpaOf(spec, { annotations }).spec).to.deep.include(expected);
    });

  it('has an entry for each metric, those of containers first and those of pods last', () => {
    const { metrics, scaleTargetRef } = hpaOf({}).spec;
    expect(scaleTargetRef).to.deep.equal({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' });
    expect(metrics).to.deep.equal([
      {
        type: 'ContainerResource',
        containerResource: {
          name: 'memory',
          container: 'main',
          target: { type: 'AverageValue', averageValue: '1Gi' },
        },
      },
      external('s1-queue', { type: 'AverageValue', averageValue: '62m' }),
      external('s3-total', { type: 'Value', value: '7' }),
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
      },
    ]);
  });

  it('has one metric of a formula in place of all external ones, beside CPU and memory', () => {
    const { metrics } = hpaOf({ advanced: FORMULA }).spec;
    expect(metrics.map(({ type }) => type)).to.deep.equal(['ContainerResource', 'External', 'Resource']);
    expect(metrics[1]).to.deep.equal(
      external('composite-metric', { type: 'AverageValue', averageValue: '2500m' }),
    );
    const { scalingModifiers } = FORMULA;
    const advanced = { scalingModifiers: { ...scalingModifiers, metricType: 'Value' } };
    expect(hpaOf({ advanced }).spec.metrics[1]).to.deep.equal(
      external('composite-metric', { type: 'Value', value: '2500m' }),
    );
  });

  it('rejects an object whose triggers have no metrics', () => {
    expect(() => hpaOfPlan(objectOf({}), planOf([{ metrics: [] }]))).to.throw(
      'no metric specs returned from scalers for ScaledObject default/web',
    );
  });
});

const OPTIONS = {
  resource: { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', namespaced: true },
  version: '1.2.3+x',
};

interface Found {
  readonly metadata: { readonly labels: Readonly<Record<string, string>>; readonly [key: string]: unknown };
  readonly spec: { readonly metrics: readonly { readonly type: string }[]; readonly [key: string]: unknown };
}

/** The HPA of triggers for cpu, a queue, memory of a container, and a total. */
function hpaOf(spec: object, metadata: object = {}): Found {
  const object = objectOf(spec, metadata);
  const plan = planOf([
    { resource: { resource: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
    { metrics: [{ metricName: 's1-queue', targetType: 'AverageValue', target: 0.0625 }] },
    {
      resource: {
        ...{ resource: 'memory', containerName: 'main' },
        target: { type: 'AverageValue', averageValue: '1Gi' },
      },
    },
    { metrics: [{ metricName: 's3-total', targetType: 'Value', target: 7 }] },
  ]);
  return hpaOfPlan(object, plan) as never;
}

function hpaOfPlan(object: ScaledObject, plan: PreparedTriggers) {
  return desiredHpa(object, { ...OPTIONS, plan, prepared: compileScaledObject(object) });
}

function objectOf(spec: object, metadata: object = {}): ScaledObject {
  const triggers = ['queue', 'total'].map((name) => ({ type: 'external', name, metadata: {} }));
  return {
    metadata: { name: 'web', namespace: 'default', uid: 'u', ...metadata },
    spec: { scaleTargetRef: { name: 'web' }, triggers, ...spec },
  } as ScaledObject;
}

function planOf(triggers: readonly object[]): PreparedTriggers {
  return {
    ...{ uid: 'u', generation: 1, preparedAtMs: 0 },
    triggers: triggers.map((trigger) => ({ metrics: [], resource: undefined, ...trigger })) as never,
  };
}

function behavior(stabilizationWindowSeconds: number) {
  return {
    advanced: { horizontalPodAutoscalerConfig: { behavior: { scaleDown: { stabilizationWindowSeconds } } } },
  };
}

function external(name: string, target: object) {
  return { type: 'External', external: { metric: { name, selector: SELECTOR }, target } };
}
