import { expect } from 'chai';
import { type ComparedHpas, composeHpa } from '#lib/hpa/explain/compose-hpa.ts';
import { readAnnotations } from '#lib/metrics-adapter/read-annotations.ts';

const VALID = 'name=web&max=20&cpu=60';

function workOf(turns: { count: number } = { count: 0 }) {
  return {
    signal: new AbortController().signal,
    nowMs: 0,
    hasPrometheusServer: true,
    turn: async () => {
      turns.count++;
    },
    checkTarget: async (): Promise<string | undefined> => undefined,
  };
}

type Scaled = {
  readonly name: string;
  readonly kind?: string;
  readonly target: string;
  readonly apiVersion?: string;
};

/** Existing HPAs of namespace `default`. */
function hpasOf(...scaled: readonly Scaled[]): ComparedHpas {
  const hpas = scaled.map(({ name, kind = 'Deployment', target, apiVersion = 'apps/v1' }) => ({
    metadata: { name, namespace: 'default' },
    spec: { scaleTargetRef: { apiVersion, kind, name: target }, maxReplicas: 3 },
  }));
  return { isSynced: true, values: () => hpas };
}

const compose = (query: string, existing: ComparedHpas | undefined = hpasOf()) =>
  composeHpa(new URLSearchParams(query), workOf(), existing);

/** The problems shown at fields, as `FIELD: PROBLEM`. */
async function problemsOf(query: string): Promise<readonly string[]> {
  const { fields, problems, manifest, preview } = await compose(query);
  expect([manifest, preview]).to.deep.equal([undefined, undefined]);
  const beside = [...fields.toString().matchAll(/id="p-([^"]*)" class="refusal">([^<]+)</g)];
  return [...beside.map(([, field, problem]) => `${field}: ${problem}`), ...problems];
}

describe('composeHpa', () => {
  it('reports another HPA of the same target, of any API version of the target', async () => {
    for (const apiVersion of ['apps/v1', 'extensions/v1beta1']) {
      const { problems, manifest } = await compose(VALID, hpasOf({ name: 'old', target: 'web', apiVersion }));
      expect(problems).to.deep.equal([
        'HorizontalPodAutoscaler "old" also scales Deployment "web"; neither scales until one of them is deleted',
      ]);
      expect(manifest).to.equal(undefined);
    }
  });

  it('warns beside the name of the target if it cannot be scaled, and makes YAML anyway', async () => {
    const checked: object[] = [];
    const work = {
      ...workOf(),
      async checkTarget(target: object) {
        checked.push(target);
        return 'deployments.apps "web" not found in namespace shop';
      },
    };
    const composed = async (query: string) => composeHpa(new URLSearchParams(query), work, hpasOf());
    const { fields, manifest } = await composed(`namespace=shop&${VALID}`);
    expect(fields.toString()).to.include(
      'id="p-target" class="warning">deployments.apps &quot;web&quot; not found in namespace shop<',
    );
    expect(manifest).not.to.equal(undefined);
    const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: 'shop' };
    expect(checked).to.deep.equal([target]);
    await composed('namespace=Shop&name=web'); // no namespace, so no request
    await composed('');
    expect(checked).to.have.lengthOf(1);
  });

  it('accepts HPAs of other targets, kinds, groups and namespaces', async () => {
    const others = hpasOf(
      { name: 'other', target: 'other' },
      { name: 'set', target: 'web', kind: 'StatefulSet' },
      { name: 'custom', target: 'web', apiVersion: 'example.com/v1' },
    );
    const { problems, warnings, manifest } = await compose(VALID, others);
    expect([problems, warnings]).to.deep.equal([[], []]);
    expect(manifest).not.to.equal(undefined);
    const elsewhere = await compose(`${VALID}&namespace=shop`, hpasOf({ name: 'old', target: 'web' }));
    expect(elsewhere.problems).to.deep.equal([]);
  });

  it('warns that an HPA of the same name exists, and that other HPAs are not checked', async () => {
    const existing = await compose(VALID, hpasOf({ name: 'web', target: 'web' }));
    expect(existing.problems).to.deep.equal([]);
    expect(existing.warnings).to.deep.equal([
      'HorizontalPodAutoscaler "web" exists; applying this YAML changes it.',
    ]);
    const uncompared: readonly (readonly [ComparedHpas | undefined, string])[] = [
      [
        undefined,
        'It is not checked whether another HPA scales this target: the controller hpa does not run here.',
      ],
      [
        { ...hpasOf(), isSynced: false },
        'It is not checked yet whether another HPA scales this target: the HPAs are still being listed. Try again in a few seconds.',
      ],
    ];
    for (const [others, warning] of uncompared) {
      const { warnings, manifest } = await composeHpa(new URLSearchParams(VALID), workOf(), others);
      expect(warnings).to.deep.equal([warning]);
      expect(manifest).not.to.equal(undefined);
    }
  });

  it('makes an HPA of all fields', async () => {
    const query =
      'namespace=shop&name=web&targetKind=StatefulSet&target=db&min=2&max=8&cpu=50&memory=70&metric=queue&selector=app%3Da,zone%3Db&value=30&window=60';
    const { manifest, problems } = await compose(query);
    expect(problems).to.deep.equal([]);
    const utilization = (averageUtilization: number) => ({ type: 'Utilization', averageUtilization });
    expect(manifest).to.deep.equal({
      ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' },
      metadata: { name: 'web', namespace: 'shop' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' },
        ...{ minReplicas: 2, maxReplicas: 8 },
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: utilization(50) } },
          { type: 'Resource', resource: { name: 'memory', target: utilization(70) } },
          {
            type: 'External',
            external: {
              metric: { name: 'queue', selector: { matchLabels: { app: 'a', zone: 'b' } } },
              target: { type: 'AverageValue', averageValue: '30' },
            },
          },
        ],
        behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
      },
    });
  });

  it('makes the annotation that collects the external metric, and warns without one', async () => {
    const external = 'name=web&max=8&value=30';
    for (const [name, key] of [
      ['queue-depth', 'metric-config.external.queue-depth.prometheus/query'],
      ['queue_depth', 'metric-config/collectors'],
    ] as const) {
      const { manifest, warnings } = await compose(`${external}&metric=${name}&query=sum(depth)`);
      expect(warnings).to.deep.equal([]);
      const annotations = (manifest as { metadata: { annotations: Record<string, string> } }).metadata
        .annotations;
      expect(Object.keys(annotations)).to.deep.equal([key]);
      const [read] = readAnnotations(annotations);
      expect(read)
        .to.have.property('config')
        .that.includes({ type: 'External', metric: name, collector: 'prometheus' });
      expect(read)
        .to.have.nested.property('config.settings')
        .that.satisfies(
          (settings: Map<string, { value: string }>) => settings.get('query')?.value === 'sum(depth)',
        );
    }
    const { manifest, warnings } = await compose(`${external}&metric=queue-depth`);
    expect(warnings).to.deep.equal([
      'No annotation collects "queue-depth": the HPA does not scale by it unless another provider serves the metric. Enter a Prometheus query to collect it.',
    ]);
    expect(manifest).to.have.deep.property('metadata', { name: 'web', namespace: 'default' });
  });

  it('warns beside the query if no Prometheus server is configured, and makes YAML anyway', async () => {
    for (const [metric, setting] of [
      ['queue-depth', 'annotation metric-config.external.queue-depth.prometheus/prometheus-server'],
      ['queue_depth', 'setting prometheus-server of the annotation metric-config/collectors'],
    ] as const) {
      const composed = async (query: string, hasPrometheusServer: boolean) => {
        const work = { ...workOf(), hasPrometheusServer };
        return await composeHpa(new URLSearchParams(query), work, hpasOf());
      };
      const query = `name=web&max=8&value=30&metric=${metric}&query=sum(depth)`;
      const { fields, manifest } = await composed(query, false);
      expect(fields.toString()).to.include(
        `id="p-query" class="warning">The autoscaler has no --prometheus-server: set the flag, or add the ${setting} to the YAML.<`,
      );
      expect(manifest).not.to.equal(undefined);
      expect((await composed(query, true)).fields.toString()).not.to.include('--prometheus-server');
      expect((await composed(VALID, false)).fields.toString()).not.to.include('--prometheus-server');
    }
  });

  it('refuses a minimum of 0 without an external metric', async () => {
    expect(await problemsOf('name=web&min=0&max=5&cpu=60')).to.deep.equal([
      'min: must be at least 1 without an Object or External metric; with one, 0 needs the feature gate HPAScaleToZero of an API server before Kubernetes 1.37',
    ]);
    const { manifest } = await compose('name=web&min=0&max=5&cpu=60&metric=queue&value=30');
    expect(manifest).to.have.nested.property('spec.minReplicas', 0);
  });

  it('draws a day that follows the load between night and peak', async () => {
    const { preview } = await compose(`${VALID}&min=2&low=10&peak=90`);
    const [, replicas = ''] = /<path class="replicas" d="([^"]*)"/.exec(String(preview)) ?? [];
    const heights = [...replicas.matchAll(/V([\d.]+)/g)].map(([, y]) => Number(y));
    expect(heights.length).to.be.greaterThan(10);
    expect(String(preview)).to.include('bounds 2 to 20').and.to.include('06:00').and.to.include('18:00');
    expect(String(preview)).to.include(
      'The load is 10% at night and 90% at the peak; 100% is the load at which 20 replicas have',
    );
    const axis = (drawing: unknown) =>
      Math.max(
        ...[...String(drawing).matchAll(/text-anchor="end">(\d+)</g)].map(([, value]) => Number(value)),
      );
    const half = await compose(`${VALID}&min=2&low=10&peak=50`);
    expect([axis(preview), axis(half.preview)]).to.deep.equal([20, 8]);
  });

  it('draws external metrics, too', async () => {
    const { preview } = await compose('name=web&max=10&metric=queue&value=500m');
    const [, replicas = ''] = /<path class="replicas" d="([^"]*)"/.exec(String(preview)) ?? [];
    expect((replicas.match(/V/g) ?? []).length).to.be.greaterThan(5);
  });

  it('plays many pods in turns, and draws no more than 100', async () => {
    const turns = { count: 0 };
    await composeHpa(new URLSearchParams('name=web&max=100&cpu=60'), workOf(turns), hpasOf());
    expect(turns.count).to.be.greaterThan(50);
    expect(String((await compose('name=web&max=101&cpu=60')).preview)).to.include(
      'The chart requires at most 100 replicas, and at least 1',
    );
    expect(String((await compose('name=web&min=0&max=5&metric=queue&value=30')).preview)).to.include(
      'The chart requires',
    );
  });

  it('stops at the end of the request', async () => {
    const turn = () => Promise.reject(new Error('too late'));
    let thrown: unknown;
    await composeHpa(new URLSearchParams(VALID), { ...workOf(), turn }, hpasOf()).catch((error: unknown) => {
      thrown = error;
    });
    expect(thrown).to.have.property('message', 'too late');
  });

  it('reports each problem at its field, by the rules of explain-hpa', async () => {
    expect(await problemsOf('name=&max=&cpu=')).to.deep.equal([
      ...['name: is missing', 'max: is missing'],
      'Enter at least one of CPU, memory and an external metric',
    ]);
    expect(await problemsOf('name=web&max=3&cpu=x')).to.deep.equal([
      'cpu: must be a whole number, 0 or more',
    ]);
    expect(await problemsOf('name=web&max=3&query=up')).to.deep.equal([
      ...['metric: is missing', 'value: is missing'],
    ]);
    expect(await problemsOf('name=Web_1&max=3&cpu=60&namespace=-a')).to.deep.equal([
      'namespace: must be at most 63 lowercase letters, digits and &quot;-&quot;',
      'name: must be at most 63 lowercase letters, digits and &quot;-&quot;',
    ]);
    expect(await problemsOf('name=web&min=9&max=3&cpu=60')).to.deep.equal([
      'min: minReplicas exceeds maxReplicas',
    ]);
    expect((await problemsOf('name=web&min=0&max=0&metric=queue&value=30')).join()).to.match(/^max: .*&gt;0/);
    expect((await problemsOf('name=web&max=3&cpu=0')).join()).to.match(/^cpu: .*&gt;0/);
    expect((await problemsOf('name=web&max=3&cpu=60&window=3601')).join()).to.match(/^window: .*&lt;=3600/);
    expect((await problemsOf('name=web&max=3&metric=a&value=much')).join()).to.match(/^value: .*quantit/);
    expect(await problemsOf('name=web&max=3&metric=a&value=0')).to.deep.equal(['value: must be positive']);
    expect(await problemsOf('name=web&max=3&value=1')).to.deep.equal(['metric: is missing']);
    expect((await problemsOf('name=web&max=3&metric=at&value=1')).join()).to.match(/^metric: must not be/);
    expect((await problemsOf('name=web&max=3&metric=a&value=1&selector=x')).join()).to.match(
      /^selector: must be labels/,
    );
    expect(await problemsOf(`${VALID}&low=95`)).to.deep.equal(['low: must be at most the load at the peak']);
    expect(await problemsOf(`${VALID}&peak=201`)).to.deep.equal(['peak: must be at most 200']);
  });
});
