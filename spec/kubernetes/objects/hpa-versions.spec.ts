import { expect } from 'chai';
import fc from 'fast-check';
import { NamespaceBudget } from '#lib/kubernetes/informer/namespace-budget.ts';
import { HPA_SPEC_SCHEMA, HPA_STATUS_SCHEMA } from '#lib/kubernetes/objects/hpa-schema.ts';
import { HPA_VERSIONS, HPAS, readHpa, sentHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { mutatedObjects } from '#spec/support/mutated-objects.ts';

const METADATA = { name: 'web', namespace: 'default', uid: 'u', resourceVersion: '7' };
const SPEC = {
  scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
  minReplicas: 2,
  maxReplicas: 9,
};
const selector = { matchLabels: { a: 'b' } };
const service = { kind: 'Service', name: 's', apiVersion: 'v1' };
const METRICS = [
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '100m' } } },
  { type: 'Resource', resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 60 } } },
  {
    type: 'Pods',
    pods: { metric: { name: 'p', selector }, target: { type: 'AverageValue', averageValue: '3' } },
  },
  {
    type: 'Object',
    object: {
      metric: { name: 'o', selector },
      describedObject: service,
      target: { type: 'Value', value: '4' },
    },
  },
  {
    type: 'Object',
    object: {
      metric: { name: 'o2' },
      describedObject: service,
      target: { type: 'AverageValue', averageValue: '4' },
    },
  },
  { type: 'External', external: { metric: { name: 'e', selector }, target: { type: 'Value', value: '5' } } },
  {
    type: 'External',
    external: { metric: { name: 'e2' }, target: { type: 'AverageValue', averageValue: '5' } },
  },
  {
    type: 'ContainerResource',
    containerResource: {
      name: 'cpu',
      container: 'c',
      target: { type: 'Utilization', averageUtilization: 5 },
    },
  },
];
const CURRENT = [
  { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 12, averageValue: '7m' } } },
  { type: 'Pods', pods: { metric: { name: 'p', selector }, current: { averageValue: '3' } } },
  {
    type: 'Object',
    object: { metric: { name: 'o', selector }, describedObject: service, current: { value: '4' } },
  },
  {
    type: 'Object',
    object: { metric: { name: 'o2' }, describedObject: service, current: { averageValue: '4' } },
  },
  { type: 'External', external: { metric: { name: 'e', selector }, current: { value: '5' } } },
  { type: 'External', external: { metric: { name: 'e2' }, current: { averageValue: '5' } } },
  {
    type: 'ContainerResource',
    containerResource: { name: 'cpu', container: 'c', current: { averageUtilization: 5, averageValue: '5' } },
  },
  { type: '' },
];
const CONDITION = {
  type: 'AbleToScale',
  status: 'True',
  lastTransitionTime: '2026-01-01T00:00:00Z',
  reason: 'R',
  message: 'm',
};

/** As recorded from kube-apiserver 1.20.2; metrics of containers, which are newer, by their types. */
const SHOWN_AS_V1 = {
  metadata: {
    ...METADATA,
    annotations: {
      mine: 'x',
      'autoscaling.alpha.kubernetes.io/behavior':
        '{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":2,"PeriodSeconds":9}]},"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":null,"Policies":null}}',
      'autoscaling.alpha.kubernetes.io/conditions':
        '[{"type":"AbleToScale","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"R","message":"m"}]',
      'autoscaling.alpha.kubernetes.io/metrics':
        '[{"type":"Resource","resource":{"name":"cpu","targetAverageValue":"100m"}},{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":60}},{"type":"Pods","pods":{"metricName":"p","targetAverageValue":"3","selector":{"matchLabels":{"a":"b"}}}},{"type":"Object","object":{"target":{"kind":"Service","name":"s","apiVersion":"v1"},"metricName":"o","targetValue":"4","selector":{"matchLabels":{"a":"b"}}}},{"type":"Object","object":{"target":{"kind":"Service","name":"s","apiVersion":"v1"},"metricName":"o2","targetValue":"0","averageValue":"4"}},{"type":"External","external":{"metricName":"e","metricSelector":{"matchLabels":{"a":"b"}},"targetValue":"5"}},{"type":"External","external":{"metricName":"e2","targetAverageValue":"5"}},{"type":"ContainerResource","containerResource":{"name":"cpu","targetAverageUtilization":5,"container":"c"}}]',
      'autoscaling.alpha.kubernetes.io/current-metrics':
        '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":12,"currentAverageValue":"7m"}},{"type":"Pods","pods":{"metricName":"p","currentAverageValue":"3","selector":{"matchLabels":{"a":"b"}}}},{"type":"Object","object":{"target":{"kind":"Service","name":"s","apiVersion":"v1"},"metricName":"o","currentValue":"4","selector":{"matchLabels":{"a":"b"}}}},{"type":"Object","object":{"target":{"kind":"Service","name":"s","apiVersion":"v1"},"metricName":"o2","currentValue":"0","averageValue":"4"}},{"type":"External","external":{"metricName":"e","metricSelector":{"matchLabels":{"a":"b"}},"currentValue":"5"}},{"type":"External","external":{"metricName":"e2","currentValue":"0","currentAverageValue":"5"}},{"type":"ContainerResource","containerResource":{"name":"cpu","currentAverageUtilization":5,"currentAverageValue":"5","container":"c"}},{"type":""}]',
    },
  },
  spec: { ...SPEC, targetCPUUtilizationPercentage: 44 },
  status: { currentReplicas: 1, desiredReplicas: 2, currentCPUUtilizationPercentage: 12 },
};

describe('readHpa with a large object', () => {
  const metric = METRICS[0];
  const behavior = { scaleUp: { stabilizationWindowSeconds: 5 } };
  const reduced = { ...SPEC, metrics: [] };
  const specOf = (count: number) => ({
    ...SPEC,
    behavior,
    metrics: Array.from({ length: count }, () => metric),
  });

  it('caches 500 metrics', () => {
    const { spec, omitted } = readHpa({ metadata: METADATA, spec: specOf(500) }, 'v2');
    expect([spec.metrics?.length, omitted]).to.deep.equal([500, undefined]);
  });

  it('leaves out more metrics and the behavior, and says so, in each version', () => {
    const omitted = 'the HPA has 501 metrics, more than 500';
    for (const version of ['v2', 'v2beta2'])
      expect(readHpa({ metadata: METADATA, spec: specOf(501) }, version)).to.deep.include({
        spec: reduced,
        omitted,
      });
    const annotations = { 'autoscaling.alpha.kubernetes.io/metrics': JSON.stringify(Array(501).fill({})) };
    const v1 = { metadata: { ...METADATA, annotations }, spec: SPEC };
    expect(readHpa(v1, 'v1')).to.deep.include({ spec: reduced, omitted });
  });

  it('omits any number of metrics that fits into an object, even invalid ones', () => {
    const spec = { ...SPEC, metrics: Array(200_000).fill(7) };
    expect(readHpa({ metadata: METADATA, spec }, 'v2')).to.deep.include({
      ...{ spec: reduced, omitted: 'the HPA has 200000 metrics, more than 500' },
    });
  });

  it('leaves them out of a spec that is too long', () => {
    const named = (length: number) => {
      const target = { type: 'Value', value: '5' };
      const external = { metric: { name: 'e'.repeat(length) }, target };
      return readHpa(
        { metadata: METADATA, spec: { ...SPEC, metrics: [{ type: 'External', external }] } },
        'v2',
      );
    };
    expect(named(500_000).omitted).to.equal(undefined);
    expect(named(524_288)).to.deep.include({
      ...{ spec: reduced, omitted: 'the spec of the HPA has more than 512 KiB' },
    });
  });

  it('refuses one with too much metadata, or a target with too long a name', () => {
    const read = (length: number, spec = SPEC) => {
      const metadata = { ...METADATA, labels: { a: 'v'.repeat(length) } };
      return () => readHpa({ metadata, spec }, 'v2');
    };
    const message = 'Cannot read an HPA: more than 320 KiB of metadata';
    expect(read(320_000)).to.not.throw();
    expect(read(327_680)).to.throw(message);
    const scaleTargetRef = { ...SPEC.scaleTargetRef, name: 'x'.repeat(327_680) };
    expect(read(1, { ...SPEC, scaleTargetRef })).to.throw(message);
  });
});

describe('HPAS', () => {
  const ownerReference = { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name: 's', uid: 'o' };

  it('bounds the HPAs that are cached of a namespace to 64 MiB, and reduces those beyond it', () => {
    const decode = HPAS.decoder([{ fields: ['metadata', 'spec', 'status', 'statusWriters'] }], 'v2');
    const budget = new NamespaceBudget(HPAS.budget);
    const ownerReferences = [ownerReference];
    const status = { currentReplicas: 1, desiredReplicas: 2, conditions: [{ type: 'A', status: 'True' }] };
    const hpa = (name: string) =>
      decode({
        metadata: { ...METADATA, name, ownerReferences, annotations: { x: 'x'.repeat(1_000_000 / 4) } },
        spec: { ...SPEC, metrics: METRICS },
        status,
      });
    const isCached = (name: string, namespace = 'default') =>
      budget.fit(`${namespace}/${name}`, hpa(name)).isReduced === undefined;
    let count = 0;
    while (isCached(`web-${count}`)) count++;
    expect(count).to.be.within(255, 268); // of 67.1 MB
    expect(budget.fit('default/late', hpa('late'))).to.deep.equal({
      metadata: { ...METADATA, name: 'late', ownerReferences },
      spec: SPEC,
      status: { desiredReplicas: 2, conditions: status.conditions },
      omitted: 'the HPAs of the namespace together take more than 64 MiB',
      isReduced: true,
      statusWriters: [],
    });
    expect(isCached('late', 'other')).to.equal(true);
    expect(isCached('web-7')).to.equal(true);
    budget.delete('default/web-7');
    expect(isCached('late')).to.equal(true);
  });

  it('reduces any HPA to a few kilobytes', () => {
    const decode = HPAS.decoder([{ fields: ['metadata', 'spec', 'status', 'statusWriters'] }], 'v2');
    const long = 'x'.repeat(100_000);
    const hpa = decode({
      metadata: { ...METADATA, labels: { a: long }, ownerReferences: [{ ...ownerReference, kind: long }] },
      spec: { ...SPEC, scaleTargetRef: { ...SPEC.scaleTargetRef, name: long }, metrics: METRICS },
      status: { desiredReplicas: 2, conditions: [{ type: 'A', status: 'True', message: long }] },
    });
    expect(HPAS.budget.reduce(hpa)).to.deep.equal({
      metadata: METADATA,
      spec: { ...SPEC, scaleTargetRef: { kind: '', name: '' } },
      omitted: 'the HPAs of the namespace together take more than 64 MiB',
      isReduced: true,
      statusWriters: [],
    });
  });
});

describe('readHpa', () => {
  it('reads of autoscaling/v1 the annotations that the API server writes', () => {
    const hpa = readHpa(SHOWN_AS_V1, 'v1');
    expect(hpa.metadata.annotations).to.deep.equal({ mine: 'x' });
    expect(hpa.spec.metrics).to.deep.equal([
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 44 } },
      },
      ...METRICS,
    ]);
    expect(hpa.spec.behavior?.scaleUp).to.deep.equal({
      stabilizationWindowSeconds: 0,
      selectPolicy: 'Max',
      policies: [{ type: 'Pods', value: 2, periodSeconds: 9 }],
    });
    expect(hpa.spec.behavior?.scaleDown, 'defaults, where there is null').to.deep.equal({
      selectPolicy: 'Max',
      policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
    });
    expect(hpa.status).to.deep.equal({
      ...{ currentReplicas: 1, desiredReplicas: 2, currentMetrics: CURRENT },
      conditions: [CONDITION],
    });
  });

  it('sends as autoscaling/v1 the status that the API server shows', () => {
    const hpa = readHpa(SHOWN_AS_V1, 'v1');
    const sent = sentHpa(hpa, hpa.status ?? { desiredReplicas: 0 }, 'v1');
    expect(sent.status).to.deep.equal(SHOWN_AS_V1.status);
    const { annotations = {} } = sent.metadata;
    for (const name of ['current-metrics', 'conditions'] as const) {
      const annotation = `autoscaling.alpha.kubernetes.io/${name}` as const;
      const shown = SHOWN_AS_V1.metadata.annotations[annotation];
      expect(JSON.parse(annotations[annotation] ?? ''), name).to.deep.equal(JSON.parse(shown));
    }
    expect(Object.keys(annotations), 'of the spec it sends nothing').to.have.lengthOf(3);
  });

  const V2 = {
    metadata: METADATA,
    spec: {
      ...SPEC,
      metrics: METRICS,
      behavior: { scaleDown: { policies: [{ type: 'Pods', value: 2, periodSeconds: 9 }], tolerance: '50m' } },
    },
    status: { ...SHOWN_AS_V1.status, currentMetrics: CURRENT, conditions: [CONDITION] },
  };

  it('reads changed HPAs of each version to one that can be used, or refuses them', () => {
    fc.assert(
      fc.property(mutatedObjects([V2, SHOWN_AS_V1]), fc.constantFrom(...HPA_VERSIONS), (value, version) => {
        let hpa: ReturnType<typeof readHpa>;
        try {
          hpa = readHpa(value, version);
        } catch (error) {
          if (error instanceof Error && error.constructor === Error) return;
          throw error;
        }
        expect(HPA_SPEC_SCHEMA.safeParse(hpa.spec).success, 'spec').to.equal(true);
        expect(HPA_STATUS_SCHEMA.safeParse(hpa.status).success, 'status').to.equal(true);
        sentHpa(hpa, hpa.status ?? { desiredReplicas: 0 }, version);
      }),
      { numRuns: 3_000, seed: 1 },
    );
  });

  for (const [changes, message] of [
    [{ spec: undefined }, 'spec: Invalid input: expected object, received undefined'],
    [{ spec: { ...SPEC, scaleTargetRef: null } }, 'spec.scaleTargetRef: Invalid input: expected object'],
    [{ spec: { ...SPEC, maxReplicas: '9' } }, 'spec.maxReplicas: Invalid input: expected number'],
    [{ spec: { ...SPEC, metrics: [null] } }, 'spec.metrics.0: Invalid input: expected object'],
    [{ spec: { ...SPEC, metrics: [{ type: 'Pods' }] } }, 'spec.metrics.0.pods: expected object'],
    [
      { spec: { ...SPEC, metrics: [{ type: 'Resource', resource: { name: 'cpu' } }] } },
      'spec.metrics.0.resource.target: Invalid input: expected object',
    ],
    [{ spec: { ...SPEC, behavior: { scaleUp: [] } } }, 'spec.behavior.scaleUp: Invalid input'],
    [{ status: { conditions: [null] } }, 'status.conditions.0: Invalid input: expected object'],
  ] as const)
    it(`refuses an HPA where ${message}`, () => {
      expect(() => readHpa({ ...V2, ...changes }, 'v2')).to.throw(`Cannot read an HPA: ${message}`);
    });

  it('reads metrics of later versions, and null where nothing was written', () => {
    const metrics = [{ type: 'Later', later: { name: 'x' } }];
    const spec = { ...SPEC, minReplicas: null, metrics, behavior: { scaleUp: null } };
    const status = { desiredReplicas: 0, currentMetrics: null, conditions: null };
    const hpa = readHpa({ metadata: METADATA, spec, status }, 'v2beta2');
    expect(hpa.spec).to.deep.include({ minReplicas: 1, metrics });
    expect(hpa.status).to.deep.equal(status);
  });

  it('has a metric of autoscaling/v1 that it does not know fail, and does without none', () => {
    const entries = [
      7,
      null,
      {},
      { type: 'New', new: {} },
      { type: 'Pods' },
      { type: 'Object', object: { metricName: 'x' } },
      { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: '80' } },
    ];
    const annotations = { 'autoscaling.alpha.kubernetes.io/metrics': JSON.stringify(entries) };
    const { spec } = readHpa({ metadata: { ...METADATA, annotations }, spec: SPEC }, 'v1');
    expect(spec.metrics).to.deep.equal([
      ...[{ type: '' }, { type: '' }, { type: '' }],
      ...[{ type: 'New' }, { type: '' }, { type: '' }, { type: '' }],
    ]);
  });

  it('ignores an invalid annotation of autoscaling/v1', () => {
    const annotations = {
      'autoscaling.alpha.kubernetes.io/metrics': '[',
      'autoscaling.alpha.kubernetes.io/conditions': '{}',
    };
    const object = {
      metadata: { ...METADATA, annotations },
      spec: { ...SPEC, targetCPUUtilizationPercentage: 60 },
      status: { desiredReplicas: 1 },
    };
    const hpa = readHpa(object, 'v1');
    expect(hpa.spec.metrics).to.deep.equal([
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
      },
    ]);
    expect(hpa.status).to.deep.equal({ desiredReplicas: 1, currentMetrics: null });
  });

  it('returns the writers of the status, from entries with and without a subresource', () => {
    const time = '2026-01-01T00:00:00Z';
    const managedFields = [
      { manager: 'a', time, subresource: 'status', fieldsV1: {} },
      { manager: 'b', time, fieldsV1: { 'f:status': {} } },
      { manager: 'c', time, fieldsV1: { 'f:spec': {} } },
      'nonsense',
    ];
    const { statusWriters } = readHpa({ metadata: { ...METADATA, managedFields }, spec: SPEC }, 'v2');
    expect(statusWriters.map(({ manager }) => manager)).to.deep.equal(['a', 'b']);
  });
});
