import { expect } from 'chai';
import { DEFAULT_HPA_CONFIG, type MetricReading } from '#lib/hpa/decision/decision-input.ts';
import { evaluateMetric } from '#lib/hpa/decision/evaluate-metrics.ts';
import type { MetricSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { builtPod, NOW_MS } from '#spec/hpa/built-inputs.ts';

function evaluate(spec: MetricSpec, reading: MetricReading, statusReplicas = 2) {
  return evaluateMetric(spec, {
    ...{ reading, namespace: 'default', specReplicas: 2, statusReplicas, nowMs: NOW_MS },
    pods: [builtPod('a'), builtPod('b')],
    tolerances: { scaleDown: 0.1, scaleUp: 0.1 },
    config: DEFAULT_HPA_CONFIG,
  });
}

const usage = (...amounts: string[]): MetricReading => ({
  podUsage: amounts.map((amount, index) => ({
    ...{ pod: 'ab'[index] ?? '', takenAtMs: NOW_MS - 20_000, windowMs: 30_000 },
    containers: [{ name: 'app', usage: { cpu: amount, memory: amount } }],
  })),
});
const external = (target: { value?: string; averageValue?: string }): MetricSpec => ({
  type: 'External',
  external: { metric: { name: 'queue' }, target: { type: '', ...target } },
});
const object = (type: string, target: { value?: string; averageValue?: string }): MetricSpec => ({
  type: 'Object',
  object: {
    describedObject: { kind: 'Ingress', name: 'front' },
    metric: { name: 'hits' },
    target: { type, ...target },
  },
});
const cpuUtilization: MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
};

describe('evaluateMetric', () => {
  it('rethrows internal errors', () => {
    const broken: MetricReading = {
      get podUsage(): never {
        throw new TypeError('broken');
      },
    };
    expect(() => evaluate(cpuUtilization, broken)).to.throw(TypeError, 'broken');
  });

  it('compares resource usage with requests', () => {
    const { name, status, proposal } = evaluate(cpuUtilization, usage('100m', '50m'));
    expect(name).to.equal('cpu resource utilization (percentage of request)');
    expect(status).to.deep.equal({
      type: 'Resource',
      resource: { name: 'cpu', current: { averageValue: '75m', averageUtilization: 75 } },
    });
    expect(proposal?.replicas).to.equal(3);
  });

  it('formats memory as a binary quantity', () => {
    const target = { type: 'AverageValue', averageValue: '64Mi' };
    const { name, status } = evaluate(
      { type: 'Resource', resource: { name: 'memory', target } },
      usage('1Gi', '1Gi'),
    );
    expect(name).to.equal('memory resource');
    expect(status.resource?.current).to.deep.equal({ averageValue: '1Gi' });
  });

  it('evaluates one container', () => {
    const target = { type: 'Utilization', averageUtilization: 50 };
    const spec = { name: 'cpu', container: 'app', target };
    const { name, status } = evaluate(
      { type: 'ContainerResource', containerResource: spec },
      usage('100m', '50m'),
    );
    expect(name).to.equal('cpu container resource utilization (percentage of request)');
    expect(status).to.have.property('type', 'ContainerResource');
    expect(status.containerResource).to.deep.include({ container: 'app', name: 'cpu' });
    const { failure } = evaluate(
      { type: 'ContainerResource', containerResource: { ...spec, container: 'x' } },
      usage('1'),
    );
    expect(failure?.error).to.equal(
      'failed to get x container metric value: failed to get cpu utilization: did not receive metrics for targeted pods (pods might be unready)',
    );
  });

  it('evaluates a custom metric of pods', () => {
    const spec: MetricSpec = {
      type: 'Pods',
      pods: { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '10' } },
    };
    const podValues = [
      { pod: 'a', value: '30' },
      { pod: 'b', value: '10' },
    ];
    const { name, status, proposal } = evaluate(spec, { podValues });
    expect(name).to.equal('pods metric qps');
    expect(status.pods?.current).to.deep.equal({ averageValue: '20' });
    expect(proposal?.replicas).to.equal(4);
    expect(evaluate(spec, { podValues: [] }).failure?.message).to.equal(
      'unable to get metric qps: no metrics returned from custom metrics API',
    );
  });

  it('fails with an invalid selector, whatever was read', () => {
    const selecting = (matchExpression: { key: string; operator: string; values?: string[] }) => {
      const metric = { name: 'queue', selector: { matchExpressions: [matchExpression] } };
      const describedObject = { kind: 'Ingress', name: 'front' };
      const average = { metric, target: { type: 'AverageValue', averageValue: '10' } };
      const value = { metric, target: { type: 'Value', value: '10' } };
      const specs: MetricSpec[] = [
        { type: 'Pods', pods: average },
        { type: 'Object', object: { ...average, describedObject } },
        { type: 'Object', object: { ...value, describedObject } },
        { type: 'External', external: average },
        { type: 'External', external: value },
      ];
      const readings: MetricReading[] = [
        { podValues: [{ pod: 'a', value: '90' }] },
        { value: '90' },
        { value: '90' },
        { values: ['90'] },
        { values: ['90'] },
      ];
      return specs.map((spec, index) => evaluate(spec, readings[index] ?? { error: 'not read' }).failure);
    };
    const message = '"constructor" is not a valid label selector operator';
    const unknown = selecting({ key: 'a', operator: 'constructor', values: ['b'] });
    expect(unknown.map((failure) => failure?.message)).to.deep.equal(Array(5).fill(message));
    expect(unknown.map((failure) => failure?.error)).to.deep.equal([
      `failed to get pods metric value: ${message}`,
      `failed to get object metric value: ${message}`,
      `failed to get object metric value: ${message}`,
      `failed to get queue external metric value: failed to get queue external metric: ${message}`,
      `failed to get queue external metric value: failed to get external metric queue: ${message}`,
    ]);
    const messageOf = (operator: string, values?: string[]) =>
      selecting({ key: 'a', operator, ...(values && { values }) })[3]?.message;
    for (const operator of ['In', 'NotIn'])
      for (const values of [undefined, []])
        expect(messageOf(operator, values)).to.equal(
          "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
        );
    for (const operator of ['Exists', 'DoesNotExist'])
      expect(messageOf(operator, ['b', 'c'])).to.equal(
        'values: Invalid value: ["b","c"]: values set must be empty for exists and does not exist',
      );
    expect(messageOf('In', ['ok', '-x'])).to.match(
      /^values\[1\]\[a\]: Invalid value: "-x": a valid label must /,
    );
    expect(selecting({ key: 'a key', operator: 'Exists' })[0]?.message).to.match(
      /^key: Invalid value: "a key": name part must consist of /,
    );
    expect(messageOf('In', ['ok'])).to.equal(undefined);
  });

  it('caps a sum of external values at the largest integer', () => {
    const [max, largest] = ['9223372036854775807m', 2n ** 63n - 1n];
    const currentOf = (target: { value?: string; averageValue?: string }, ...values: string[]) =>
      evaluate(external(target), { values }).proposal?.current;
    expect(currentOf({ value: '1' }, '4P', '4P', '4P')).to.equal(largest);
    expect(currentOf({ value: '1' }, max, '-5')).to.equal(largest - 5000n);
    expect(currentOf({ value: '1' }, '-1m')).to.equal(-1n);
    expect(currentOf({ averageValue: '1' }, '9223372036854775806m', '1m')).to.equal(largest);
    expect(currentOf({ averageValue: '1' }, '4P', '4P', '4P')).to.equal(largest);
  });

  it('evaluates a metric of an object by value and by average', () => {
    const byValue = evaluate(object('Value', { value: '10' }), { value: '20' });
    expect([byValue.name, byValue.proposal?.replicas]).to.deep.equal(['Ingress metric hits', 4]);
    const byAverage = evaluate(object('AverageValue', { averageValue: '10' }), { value: '50' });
    expect([byAverage.name, byAverage.proposal?.replicas]).to.deep.equal(['external metric hits(nil)', 5]);
    expect(byAverage.status.object?.current).to.deep.equal({ averageValue: '25' });
  });

  it('sums the values of an external metric', () => {
    expect(
      evaluate(external({ value: '10' }), { values: ['15', '5'] }).status.external?.current,
    ).to.deep.equal({
      value: '20',
    });
    expect(evaluate(external({ averageValue: '10' }), { values: ['15', '5'] }).proposal?.replicas).to.equal(
      2,
    );
  });

  it('shows no average without replicas', () => {
    const target = { averageValue: '10' };
    const { status: ofObject } = evaluate(object('AverageValue', target), { value: '50' }, 0);
    expect(ofObject.object).to.deep.include({ current: {}, metric: { name: 'hits' } });
    const { status: ofQueue } = evaluate(external(target), { values: ['50'] }, 0);
    expect(ofQueue.external).to.deep.equal({ current: {}, metric: { name: 'queue' } });
  });

  const FAILURES: readonly [string, MetricSpec, MetricReading, string][] = [
    [
      'a response that did not come',
      cpuUtilization,
      { error: 'broken pipe' },
      'failed to get cpu resource metric value: failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: broken pipe',
    ],
    [
      'an empty response',
      cpuUtilization,
      usage(),
      'failed to get cpu resource metric value: failed to get cpu utilization: unable to get metrics for resource cpu: no metrics returned from resource metrics API',
    ],
    [
      'a resource without a target',
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } },
      usage('1'),
      'failed to get cpu resource metric value: invalid resource metric source: neither an average utilization target nor an average value (usage) target was set',
    ],
    [
      'an object whose target has the other value',
      object('Value', { averageValue: '1' }),
      { value: '1' },
      'failed to get object metric value: invalid object metric source: neither a value target nor an average value target was set',
    ],
    [
      'an object by average whose target has the other value',
      object('AverageValue', { value: '1' }),
      { value: '1' },
      'failed to get object metric value: invalid object metric source: neither a value target nor an average value target was set',
    ],
    [
      'an unknown object',
      object('AverageValue', { averageValue: '1' }),
      { error: 'gone' },
      'failed to get object metric value: failed to get hits object metric: unable to get metric hits: Ingress on default front/unable to fetch metrics from custom metrics API: gone',
    ],
    [
      'an external metric without values',
      external({ value: '1' }),
      { values: [] },
      'failed to get queue external metric value: failed to get external metric queue: unable to get external metric default/queue/nil: no metrics returned from external metrics API',
    ],
    [
      'a metric of pods whose target has the other value',
      { type: 'Pods', pods: { metric: { name: 'qps' }, target: { type: 'Value', value: '1' } } },
      { podValues: [{ pod: 'a', value: '1' }] },
      'failed to get pods metric value: invalid pods metric source: neither a value target nor an average value target was set',
    ],
    [
      'an external metric without a target',
      external({}),
      { values: ['1'] },
      'failed to get queue external metric value: invalid external metric source: neither a value target nor an average value target was set',
    ],
    [
      'a type that it does not know',
      { type: 'Odd' } as unknown as MetricSpec,
      { values: [] },
      'unknown metric source type "Odd"',
    ],
  ];
  for (const [what, spec, reading, error] of FAILURES) {
    it(`fails with ${what}`, () => {
      const { failure, status } = evaluate(spec, reading);
      expect(failure?.error).to.equal(error);
      expect(failure?.error.endsWith(failure?.message ?? '?')).to.equal(true);
      expect(status).to.deep.equal({ type: '' });
    });
  }

  it('has a reason for each kind, and names the failing API', () => {
    const average = { type: 'AverageValue', averageValue: '1' };
    const resource = { name: 'cpu', target: average };
    const kinds: readonly [MetricSpec, string, RegExp][] = [
      [
        { type: 'Resource', resource },
        'FailedGetResourceMetric',
        /^failed to get cpu usage: .* resource metrics API: gone$/,
      ],
      [
        { type: 'ContainerResource', containerResource: { ...resource, container: 'app' } },
        'FailedGetContainerResourceMetric',
        /^failed to get cpu usage: .* resource metrics API: gone$/,
      ],
      [
        { type: 'Pods', pods: { metric: { name: 'qps' }, target: average } },
        'FailedGetPodsMetric',
        /^unable to get metric qps: .* custom metrics API: gone$/,
      ],
      [object('Value', { value: '1' }), 'FailedGetObjectMetric', /custom metrics API: gone$/],
      [external({ averageValue: '1' }), 'FailedGetExternalMetric', /external metrics API: gone$/],
      [
        { type: 'Odd' } as unknown as MetricSpec,
        'InvalidMetricSourceType',
        /^unknown metric source type "Odd"$/,
      ],
    ];
    for (const [spec, reason, message] of kinds) {
      const { failure } = evaluate(spec, { error: 'gone' });
      expect(failure?.reason).to.equal(reason);
      expect(failure?.message).to.match(message);
      expect(failure?.isRefusal).to.equal(false);
    }
  });

  it('shows the type of each metric', () => {
    const pods = { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '1' } };
    expect(evaluate({ type: 'Pods', pods }, { podValues: [{ pod: 'a', value: '1' }] }).status.type).to.equal(
      'Pods',
    );
    expect(evaluate(object('Value', { value: '1' }), { value: '3' }).status).to.deep.include({
      type: 'Object',
    });
    expect(evaluate(object('Value', { value: '1' }), { value: '3' }).status.object?.current).to.deep.equal({
      value: '3',
    });
    const { name, status } = evaluate(external({ averageValue: '1' }), { values: ['3'] });
    expect([name, status.type]).to.deep.equal(['external metric queue(nil)', 'External']);
    expect(status.external?.current).to.deep.equal({ averageValue: '1500m' });
  });

  it('rejects invalid numbers, and numbers beyond 64 bits', () => {
    for (const value of ['12 apples', '10P']) {
      const { failure } = evaluate(external({ value: '1' }), { values: [value] });
      expect(failure?.isRefusal, value).to.equal(true);
      expect(failure?.message).to.include(`unable to get external metric default/queue/nil: "${value}"`);
    }
  });
});
