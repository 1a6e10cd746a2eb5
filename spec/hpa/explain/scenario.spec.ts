import { expect } from 'chai';
import { inOrder, loadAt, parseLoadCsv, parseScenario } from '#lib/hpa/explain/scenario.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { SCENARIO } from './built-scenario.ts';

describe('parseScenario', () => {
  it('fills in defaults', () => {
    const scenario = parseScenario(SCENARIO);
    expect(scenario).to.deep.include({
      replicas: 4,
      syncPeriodMs: 15_000,
      startupMs: 30_000,
      durationMs: 900_000,
    });
    expect(scenario.config).to.deep.include({ tolerance: 0.1, downscaleStabilizationMs: 300_000 });
    expect(scenario.hpa.metadata).to.deep.equal({ name: 'web', namespace: 'default' });
    expect(scenario.load[1]).to.deep.equal({ atMs: 60_000, values: { cpu: '400m' } });
  });

  it('fills in the defaults of the API server', () => {
    const { hpa } = parseScenario(SCENARIO.replace('maxReplicas: 20', 'maxReplicas: 20\n    behavior: {}'));
    expect(hpa.spec.behavior?.scaleUp?.policies).to.have.length(2);
  });

  it('reads the load as CSV, inline or from a file', () => {
    const load = [{ atMs: 0, values: { cpu: '1' } }];
    const inside = `${SCENARIO.split('load:')[0]}load: |\n  at,cpu\n  0s,1\n`;
    expect(parseScenario(inside).load).to.deep.equal(load);
    expect(parseScenario(SCENARIO, { loadText: 'at,cpu\n0s,1' }).load).to.deep.equal(load);
  });

  it('reports all problems with their paths', () => {
    const wrong = SCENARIO.replace('replicas: 4', 'replicas: -4').replace('15m', 'long');
    const message = (text: string) => {
      try {
        return parseScenario(text, { file: 'web.yaml' }).replicas;
      } catch (error) {
        return describeError(error); // as the command does
      }
    };
    expect(message(wrong)).to.equal(
      'Cannot read web.yaml: replicas: Too small: expected number to be >=0; duration: "long" is not a duration such as 1m30s',
    );
    expect(message(SCENARIO.replace('200m', 'much'))).to.equal(
      'Cannot read load of web.yaml: load: 0.cpu: "much" is not a quantity',
    );
  });

  const WRONG: readonly [what: string, from: string | RegExp, to: string, problem: string | RegExp][] = [
    ['a field that it does not know', 'replicas: 4', 'replicas: 4\nreplica: 5', ': replica: unknown field'],
    ['a duration that is none', '15m', 'long', '"long" is not a duration such as 1m30s'],
    ['a duration without a unit', '15m', '15', 'duration: 15 is not a duration such as 1m30s'],
    ['a quantity that is none', '200m', 'much', '"much" is not a quantity'],
    ['bounds that cross', 'minReplicas: 2', 'minReplicas: 30', 'minReplicas exceeds maxReplicas'],
    ['a metric of no type', 'type: Resource', 'type: Resources', 'type: must be Resource,'],
    ['points out of order', 'at: 5m', 'at: 1m', 'not later than the previous entry'],
    [
      'more work than it does',
      'maxReplicas: 20',
      'maxReplicas: 2000000',
      'the number of decisions times the maximum number of replicas exceeds',
    ],
    [
      'a load of what is no metric',
      'at: 5m, cpu',
      'at: 5m, cup',
      `"cup" must be one of the HPA's metrics: cpu`,
    ],
    ['what is no YAML', 'replicas: 4', 'replicas: [4', 'invalid YAML: bad indent in line'],
    ['a period of no length', 'duration:', 'syncPeriod: 0s\nduration:', 'syncPeriod: must be at least 1s'],
  ];
  it('names the file, the field and the rule', () => {
    const text = SCENARIO.replace('maxReplicas: 20', 'maxReplicas: 0');
    const complaint = 'Cannot read web.yaml: hpa.spec.maxReplicas: Too small: expected number to be >0';
    expect(() => parseScenario(text, { file: 'web.yaml' })).to.throw(complaint);
    const load = { file: 'web.yaml', loadFile: 'web.csv', loadText: 'at,cpu\n0s,1\n1m,much' };
    expect(() => parseScenario(SCENARIO, load)).to.throw('Cannot read load of web.csv: line 3, cpu: "much"');
  });

  it('rejects misspelled fields at every depth of the HPA, as kubectl does', () => {
    const misspelled = (from: string, to: string) => () => parseScenario(SCENARIO.replace(from, to));
    for (const [from, to, path] of [
      ['  metadata:', '  sttus: {}\n  metadata:', 'sttus'],
      ['metrics:', 'metrcs:', 'spec.metrcs'],
      [
        'maxReplicas: 20',
        'maxReplicas: 20\n    targetCPUUtilizationPercentage: 5',
        'spec.targetCPUUtilizationPercentage',
      ],
      ['maxReplicas: 20', 'maxReplicas: 20\n    behavior: { scaleDwn: {} }', 'spec.behavior.scaleDwn'],
      [
        'maxReplicas: 20',
        'maxReplicas: 20\n    behavior: { scaleUp: { policy: Max } }',
        'spec.behavior.scaleUp.policy',
      ],
      ['kind: Deployment', 'kind: Deployment, namespace: other', 'spec.scaleTargetRef.namespace'],
      ['averageUtilization', 'averageUtilisation', 'spec.metrics.0.resource.target.averageUtilisation'],
      ['resource: { name', 'resource: { container: app, name', 'spec.metrics.0.resource.container'],
    ] as const)
      expect(misspelled(from, to), path).to.throw(`hpa.${path}: unknown field`);
  });

  it('describes the expected form of a file that is not a scenario', () => {
    const read = (text: string) => () => parseScenario(text, { file: 'web.yaml' });
    for (const text of ['', '# nothing\n', 'hello', '- hpa: {}\n'])
      expect(read(text), text).to.throw('Cannot read web.yaml: must be a YAML mapping');
    expect(read(PRINTED)).to.throw('Cannot read web.yaml: the file is an HPA: put the HPA under `hpa:`');
    const form = 'put the HPA under `hpa:`, and add replicas, duration and load';
    expect(read('kind: ScaledJob\n')).to.throw(
      `Cannot read web.yaml: the file is a Kubernetes object, but not an HPA: ${form}`,
    );
    expect(read(`kind: Deployment\n---\n${PRINTED}`)).to.throw(
      `Cannot read web.yaml: the file has several YAML documents, but a scenario is one: ${form}`,
    );
  });

  it('reports missing fields, and a missing load only without a load file', () => {
    const [withoutLoad = ''] = SCENARIO.split('load:');
    expect(() => parseScenario(withoutLoad)).to.throw('Cannot read the scenario: load: is missing');
    expect(parseScenario(withoutLoad, { loadText: 'at,cpu\n0s,1' }).load).to.have.length(1);
    expect(() => parseScenario('replicas: 4')).to.throw('hpa: is missing; duration: is missing');
    expect(() => parseScenario(SCENARIO.replace('name: web', ''))).to.throw('hpa.metadata.name: is missing');
    expect(() => parseScenario(SCENARIO.replace('at: 5m, ', ''))).to.throw('load: 2.at: is missing');
  });

  it('rejects an HPA of another version', () => {
    const older = SCENARIO.replace('  metadata:', '  apiVersion: autoscaling/v1\n  metadata:');
    expect(() => parseScenario(older)).to.throw('hpa.apiVersion: must be autoscaling/v2');
  });

  it('accepts an HPA with all fields of the API, as kubectl prints it', () => {
    const { metadata, spec } = parseScenario(`hpa:\n${PRINTED.replace(/^/gm, '  ')}\n${REST}`).hpa;
    expect(metadata).to.deep.equal({ name: 'web', namespace: 'shop' });
    expect(spec.metrics).to.have.length(5);
    expect(spec.behavior?.scaleDown).to.include({ selectPolicy: 'Min', tolerance: '50m' });
  });

  for (const [what, from, to, problem] of WRONG) {
    it(`rejects ${what}`, () => expect(() => parseScenario(SCENARIO.replace(from, to))).to.throw(problem));
  }

  it('accepts each number up to its bounds, and reports the first five of many problems', () => {
    const complaint = (...changes: readonly (readonly [from: string, to: string])[]) => {
      const text = changes.reduce((changed, [from, to]) => changed.replace(from, to), SCENARIO);
      try {
        return parseScenario(text).replicas;
      } catch (error) {
        return (error as Error).message.replace('Cannot read the scenario: ', '');
      }
    };
    const beside = (field: string) => ['replicas: 4', `replicas: 4\n${field}`] as const;
    expect(complaint(['replicas: 4', 'replicas: 0'])).to.equal(0);
    expect(complaint(['replicas: 4', 'replicas: 10000'])).to.equal(10_000);
    expect(complaint(['replicas: 4', 'replicas: 10001'])).to.equal(
      'replicas: Too big: expected number to be <=10000',
    );
    expect(complaint(['replicas: 4', 'replicas: 1.5'])).to.match(/^replicas: Invalid input: expected int/);
    for (const tolerance of [0, 1]) expect(complaint(beside(`tolerance: ${tolerance}`))).to.equal(4);
    expect(complaint(beside('tolerance: 1.1'))).to.equal('tolerance: Too big: expected number to be <=1');
    expect(complaint(beside('tolerance: -0.1'))).to.equal('tolerance: Too small: expected number to be >=0');
    expect(complaint(beside('startup: -1s'))).to.equal('startup: "-1s" is not a duration such as 1m30s');
    expect(complaint(beside('startup: 0s'))).to.equal(4);
    expect(complaint(beside('syncPeriod: 1s'))).to.equal(4);
    expect(complaint(beside('syncPeriod: 999ms'))).to.equal('syncPeriod: must be at least 1s');
    expect(complaint(['cpu: 100m', 'memory: much'])).to.match(/^requests\.memory: "much" is not a quantity/);
    // A decision per second for 10,000 s, of 1,000 replicas.
    const long = [['15m', '10000s'], beside('syncPeriod: 1s')] as const;
    expect(complaint(...long, ['maxReplicas: 20', 'maxReplicas: 1000'])).to.equal(4);
    expect(complaint(...long, ['maxReplicas: 20', 'maxReplicas: 1001'])).to.equal(
      'duration: the number of decisions times the maximum number of replicas exceeds 10000000',
    );
    expect(complaint(...long, ['replicas: 4', 'replicas: 1001'])).to.match(
      /^duration: the number of decisions times/,
    );
    const unknown = (count: number) => Array.from({ length: count }, (_, index) => `u${index}: 1`).join('\n');
    const first = [0, 1, 2, 3, 4].map((index) => `u${index}: unknown field`).join('; ');
    expect(complaint(beside(unknown(5)))).to.equal(first);
    expect(complaint(beside(unknown(7)))).to.equal(`${first}; and 2 more`);
  });

  it('reads the fields beside the HPA, with the defaults of the controller', () => {
    const beside =
      'startup: 5s\nsyncPeriod: 30s\ntolerance: 0.2\ndownscaleStabilization: 1m\nrequests: { memory: 1Gi }\nscaleDownLimitFactor: 0.5\nscaleDownLimitMinimum: 3';
    const text = SCENARIO.replace('requests: { cpu: 100m }', beside);
    const { config, hpa: _, load: __, ...scenario } = parseScenario(text);
    expect(scenario).to.deep.equal({
      ...{
        replicas: 4,
        requests: { memory: '1Gi' },
        startupMs: 5000,
        syncPeriodMs: 30_000,
        durationMs: 900_000,
      },
    });
    expect(config).to.deep.equal({
      ...{ tolerance: 0.2, downscaleStabilizationMs: 60_000, configurableTolerance: true },
      ...{ cpuInitializationPeriodMs: 300_000, initialReadinessDelayMs: 30_000, podLevelResources: true },
      ...{ scaleToZero: true, scaleDownLimit: { factor: 0.5, minimum: 3 } },
    });
    expect(parseScenario(SCENARIO.replace('requests: { cpu: 100m }\n', '')).requests).to.deep.equal({});
  });

  it('rejects endless texts, and aliases that multiply', () => {
    expect(() => parseScenario('#'.repeat(5_000_000))).to.throw('longer than');
    expect(() => parseScenario('a: &a [1]\nb: *a')).to.throw();
  });
});

/** The fields besides the HPA. */
const REST = 'replicas: 4\nduration: 15m\nload: [{ at: 0s, cpu: 200m }]\n';

/** With every field of `autoscaling/v2`. */
const PRINTED = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"autoscaling/v2"}
  creationTimestamp: "2026-05-04T10:00:00Z"
  finalizers: [example.org/kept]
  generation: 3
  labels: { app: web }
  managedFields:
  - { apiVersion: autoscaling/v2, fieldsType: FieldsV1, fieldsV1: { "f:spec": { "f:maxReplicas": {} } }, manager: kubectl, operation: Update }
  name: web
  namespace: shop
  ownerReferences: [{ apiVersion: apps/v1, kind: Deployment, name: web, uid: 1c5e, controller: true }]
  resourceVersion: "1234"
  uid: 6f3a
spec:
  behavior:
    scaleDown:
      policies: [{ periodSeconds: 15, type: Percent, value: 100 }]
      selectPolicy: Min
      stabilizationWindowSeconds: 60
      tolerance: 50m
    scaleUp:
      policies: [{ periodSeconds: 15, type: Pods, value: 4 }]
      selectPolicy: Max
      stabilizationWindowSeconds: 0
  maxReplicas: 20
  metrics:
  - resource: { name: cpu, target: { averageUtilization: 50, type: Utilization } }
    type: Resource
  - containerResource: { container: app, name: memory, target: { averageValue: 1Gi, type: AverageValue } }
    type: ContainerResource
  - pods: { metric: { name: requests }, target: { averageValue: "10", type: AverageValue } }
    type: Pods
  - object:
      describedObject: { apiVersion: networking.k8s.io/v1, kind: Ingress, name: web }
      metric: { name: hits, selector: { matchLabels: { verb: GET } } }
      target: { type: Value, value: "100" }
    type: Object
  - external:
      metric: { name: queue, selector: { matchExpressions: [{ key: topic, operator: In, values: [orders] }] } }
      target: { averageValue: "30", type: AverageValue }
    type: External
  minReplicas: 2
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
status:
  conditions: [{ lastTransitionTime: "2026-05-04T10:00:15Z", message: fine, reason: ReadyForNewScale, status: "True", type: AbleToScale }]
  currentMetrics:
  - resource: { current: { averageUtilization: 40, averageValue: 40m }, name: cpu }
    type: Resource
  currentReplicas: 4
  desiredReplicas: 4
  lastScaleTime: "2026-05-04T10:00:00Z"
  observedGeneration: 3
`;

describe('parseLoadCsv', () => {
  it('reads durations and quantities, and skips empty cells', () => {
    expect(parseLoadCsv('at, cpu ,queue\r\n0s, 300m ,20\n\n1m30s,,5\n2m,1\n')).to.deep.equal([
      { atMs: 0, values: { cpu: '300m', queue: '20' } },
      { atMs: 90_000, values: { queue: '5' } },
      { atMs: 120_000, values: { cpu: '1' } },
    ]);
  });

  const WRONG: readonly [string, string][] = [
    ['time,cpu\n0s,1', 'line 1 is not the header'],
    ['at\n0s', 'line 1 is not the header'],
    ['at,cpu\nsoon,1', 'line 2 does not start with a duration'],
    ['at,cpu\n0s,1,2', 'line 2 has too many cells'],
    ['at,cpu\n0s,1\n1s,many', 'line 3, cpu: "many" is not a quantity'],
    ['at,cpu\n1m,1\n1m,2', 'entry 2 is not later than the previous entry'],
    ['\n'.repeat(200_000), 'more than 100000 lines'],
  ];
  for (const [text, problem] of WRONG) {
    it(`reports that ${problem}`, () => expect(() => parseLoadCsv(text)).to.throw(problem));
  }
});

describe('loadAt', () => {
  it('returns the last point that is not later', () => {
    const points = inOrder([
      { atMs: 1000, values: { a: '1' } },
      { atMs: 2000, values: { a: '2' } },
    ]);
    expect([0, 1000, 1999, 2000, 9999].map((atMs) => loadAt(points, atMs).a)).to.deep.equal([
      ...[undefined, '1', '1', '2', '2'],
    ]);
  });

  it('takes a few comparisons in the largest load', () => {
    let checks = 0;
    const points = Array.from({ length: 100_000 }, (_, index) => ({
      get atMs() {
        checks++;
        return index * 1000;
      },
      values: { a: `${index}` },
    }));
    for (const index of [0, 1, 49_999, 50_000, 99_998, 99_999]) {
      checks = 0;
      expect(loadAt(points, index * 1000 + 500)).to.deep.equal({ a: `${index}` });
      expect(checks).to.be.below(20);
    }
    expect([loadAt(points, -1), loadAt([], 0)]).to.deep.equal([{}, {}]);
  });
});
