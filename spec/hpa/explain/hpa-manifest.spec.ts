import { expect } from 'chai';
import { hpaSchema, quantitySchema } from '#lib/hpa/explain/hpa-manifest.ts';

const TARGET = { kind: 'Deployment', name: 'web' };
const average = { type: 'AverageValue', averageValue: '1' };
const external = { type: 'External', external: { metric: { name: 'queue' }, target: average } };
const pods = { type: 'Pods', pods: { metric: { name: 'rps' }, target: average } };
const ZERO =
  'spec.minReplicas: must be at least 1 without an Object or External metric; with one, 0 needs the feature gate HPAScaleToZero of an API server before Kubernetes 1.37';

/** The problems of an HPA with more fields than required, as `WHERE: WHAT`. */
function wrong(spec: object, more: object = {}): readonly string[] {
  const hpa = {
    metadata: { name: 'web' },
    spec: { scaleTargetRef: TARGET, maxReplicas: 5, ...spec },
    ...more,
  };
  const { error } = hpaSchema.safeParse(hpa);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('hpaSchema', () => {
  it('accepts what the API accepts, up to its bounds', () => {
    const policy = { type: 'Pods', value: 1, periodSeconds: 1 };
    const rules = (changes: object) => ({ behavior: { scaleUp: changes, scaleDown: changes } });
    for (const spec of [
      ...[
        {},
        { minReplicas: 0, metrics: [external] },
        { minReplicas: 5 },
        { maxReplicas: 1 },
        { metrics: [] },
        { behavior: {} },
      ],
      ...[rules({}), rules({ stabilizationWindowSeconds: 0 }), rules({ stabilizationWindowSeconds: 3600 })],
      ...['Max', 'Min', 'Disabled'].map((selectPolicy) => rules({ selectPolicy })),
      ...[
        rules({ policies: [policy] }),
        rules({ policies: [{ ...policy, type: 'Percent', periodSeconds: 1800 }] }),
      ],
      rules({ tolerance: 0.05 }),
    ])
      expect(wrong(spec), JSON.stringify(spec)).to.deep.equal([]);
    const hpa = hpaSchema.parse({
      metadata: { name: 'web' },
      spec: { scaleTargetRef: TARGET, maxReplicas: 5 },
    });
    expect(hpa.metadata).to.deep.equal({ name: 'web', namespace: 'default' });
    expect(
      wrong({}, { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', status: 7 }),
    ).to.deep.equal([]);
  });

  for (const [spec, ...problems] of [
    [{ minReplicas: 6 }, 'spec: minReplicas exceeds maxReplicas'],
    [{ minReplicas: -1 }, 'spec.minReplicas: Too small: expected number to be >=0'],
    [{ minReplicas: 1.5 }, 'spec.minReplicas: Invalid input: expected int, received number'],
    [{ minReplicas: 0 }, ZERO],
    [{ minReplicas: 0, metrics: [pods] }, ZERO],
    [
      { minReplicas: 0, maxReplicas: 0, metrics: [external] },
      'spec.maxReplicas: Too small: expected number to be >0',
    ],
    [
      { metrics: [{ type: 'Cpu' }] },
      'spec.metrics.0.type: must be Resource, ContainerResource, Pods, Object or External',
    ],
    [
      { behavior: { scaleUp: { stabilizationWindowSeconds: 3601 } } },
      'spec.behavior.scaleUp.stabilizationWindowSeconds: Too big: expected number to be <=3600',
    ],
    [
      { behavior: { scaleDown: { stabilizationWindowSeconds: -1 } } },
      'spec.behavior.scaleDown.stabilizationWindowSeconds: Too small: expected number to be >=0',
    ],
    [
      { behavior: { scaleUp: { selectPolicy: 'Most' } } },
      'spec.behavior.scaleUp.selectPolicy: Invalid option: expected one of "Max"|"Min"|"Disabled"',
    ],
    [
      { behavior: { scaleUp: { policies: [] } } },
      'spec.behavior.scaleUp.policies: Too small: expected array to have >=1 items',
    ],
    [
      { behavior: { scaleUp: { policies: [{ type: 'Nodes', value: 0, periodSeconds: 1801 }] } } },
      'spec.behavior.scaleUp.policies.0.type: Invalid option: expected one of "Pods"|"Percent"',
      'spec.behavior.scaleUp.policies.0.value: Too small: expected number to be >0',
      'spec.behavior.scaleUp.policies.0.periodSeconds: Too big: expected number to be <=1800',
    ],
    [
      { behavior: { scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 0 }] } } },
      'spec.behavior.scaleUp.policies.0.periodSeconds: Too small: expected number to be >0',
    ],
    [
      { behavior: { scaleUp: { tolerance: 'much' } } },
      'spec.behavior.scaleUp.tolerance: "much" is not a quantity',
    ],
    [
      {
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Mean', averageUtilization: 0 } } },
        ],
      },
      'spec.metrics.0.resource.target.type: Invalid option: expected one of "Value"|"AverageValue"|"Utilization"',
      'spec.metrics.0.resource.target.averageUtilization: Too small: expected number to be >0',
    ],
    [
      {
        metrics: [
          { type: 'Pods', pods: { metric: { name: 'a', selector: { matchLabel: {} } }, target: average } },
        ],
      },
      'spec.metrics.0.pods.metric.selector: Unrecognized key: "matchLabel"',
    ],
    [
      {
        metrics: [
          { type: 'External', external: { metric: { name: 'a' }, target: { type: 'Value', value: [] } } },
        ],
      },
      'spec.metrics.0.external.target.value: must be a quantity such as 500m',
    ],
  ] as const)
    it(`rejects ${JSON.stringify(spec)}`, () => expect(wrong(spec)).to.deep.equal(problems));

  it('rejects other versions and kinds', () => {
    expect(wrong({}, { apiVersion: 'autoscaling/v1' })).to.deep.equal(['apiVersion: must be autoscaling/v2']);
    expect(wrong({}, { kind: 'Deployment' })).to.deep.equal(['kind: must be HorizontalPodAutoscaler']);
    expect(wrong({}, { other: 1 })).to.deep.equal([': Unrecognized key: "other"']);
  });
});

describe('quantitySchema', () => {
  it('parses texts and numbers as text', () => {
    expect([quantitySchema.parse('500m'), quantitySchema.parse(2), quantitySchema.parse(0.5)]).to.deep.equal([
      ...['500m', '2', '0.5'],
    ]);
    for (const value of ['', 'a', true, null, {}])
      expect(quantitySchema.safeParse(value).success).to.equal(false);
  });
});
