import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse } from 'yaml';
import { AUTOSCALER_CHART, autoscalerTemplate, CHART, helmTemplate } from '#spec/support/manifest-objects.ts';

/** The JSON schema of one object. */
interface ObjectSchema {
  readonly additionalProperties?: unknown;
  readonly properties?: Readonly<Record<string, ObjectSchema>>;
}

const CHARTS = [
  {
    chart: CHART,
    template: helmTemplate,
    beside: ['/addonResizer', '/enabled', '/global', '/rbac/pspEnabled'],
  },
  { chart: AUTOSCALER_CHART, template: autoscalerTemplate, beside: ['/enabled', '/global'] },
] as const;

describe('values that a Helm chart cannot take', () => {
  for (const { chart, template, beside } of CHARTS) {
    describe(`by ${chart}/values.schema.json`, () => {
      let schema: ObjectSchema;

      before(async () => {
        schema = JSON.parse(await readFile(`${chart}/values.schema.json`, 'utf8'));
      });

      it('are all others than those of values.yaml, of Helm and of the reference', async () => {
        const values = parse(await readFile(`${chart}/values.yaml`, 'utf8'));
        const existing = closedObjects(schema).flatMap(({ path, names }) =>
          names.map((name) => `${path}/${name}`),
        );
        const inValues = closedObjects(schema).flatMap(({ path }) =>
          Object.keys(at(values, path)).map((name) => `${path}/${name}`),
        );
        expect(existing.sort()).to.deep.equal([...inValues, ...beside].sort());
      });

      it('are all others than those of values.yaml in every map, except maps that are passed on to Kubernetes', async () => {
        const closed = new Set(closedObjects(schema).map(({ path }) => path));
        const maps = mapsIn(parse(await readFile(`${chart}/values.yaml`, 'utf8')));
        const handedOn =
          /^\/(\w+Probe|resources|securityContext|updateStrategy|nodeSelector|tmpVolume|dashboard\/labels)\b/;
        expect(maps.filter((path) => !closed.has(path) && !handedOn.test(path))).to.deep.equal([]);
      });

      it('are misspelt ones, each of which is reported, at any depth', async () => {
        const paths = closedObjects(schema).map(({ path }) => path);
        expect(paths.length).to.be.greaterThan(15);
        const misspelt = paths.map((path) => [`${path}/enabeld`.slice(1).replaceAll('/', '.'), true]);
        const failure = await messageOf(template(Object.fromEntries(misspelt)));
        for (const path of paths)
          expect(failure).to.include(`at '${path}': additional properties 'enabeld' not allowed`);
      });

      it('are those of a wrong type, reported with the expected one', async () => {
        const failure = await messageOf(
          template({
            args: '--v=2',
            replicas: 'two',
            image: { tag: 1.5 },
            'metrics.enabled': 'yes',
            'service.port': 70_000,
            'service.labels': { team: 1 },
            nodeSelector: ['linux'],
            tolerations: {},
          }),
        );
        for (const reported of [
          "at '/args': got string, want null or array",
          "at '/replicas': got string, want integer",
          "at '/image/tag': got number, want null or string",
          "at '/metrics/enabled': got string, want boolean",
          "at '/service/port': maximum: got 70,000, want 65,535",
          "at '/service/labels/team': got number, want string",
          "at '/nodeSelector': got array, want null or object",
          "at '/tolerations': got object, want null or array",
        ])
          expect(failure).to.include(reported);
      });

      it('are not objects of Kubernetes, which pass with any content', async () => {
        const objects = await template({
          affinity: { nodeAffinity: { ofTomorrow: [1] } },
          tolerations: [{ operator: 'Exists', ofTomorrow: true }],
          resources: { limits: { cpu: 1, memory: '1Gi' } },
          securityContext: { ofTomorrow: true },
          livenessProbe: { tcpSocket: { port: 'https' } },
          args: ['--v', 2],
          global: { registry: 'registry.example' },
          enabled: true,
          priorityClassName: null,
        });
        expect(objects.map(({ kind }) => kind)).to.include('Deployment');
      });
    });
  }

  it('are a ServiceMonitor of an endpoint that Prometheus may not read, by the chart of the autoscaler', async () => {
    expect(await messageOf(autoscalerTemplate({ 'serviceMonitor.enabled': true }))).to.include(
      'serviceMonitor.enabled requires metrics.enabled',
    );
    const openedByFlag = await autoscalerTemplate({
      'serviceMonitor.enabled': true,
      args: ['--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics'],
    });
    expect(openedByFlag.map(({ kind }) => kind)).to.include('ServiceMonitor');
  });

  it('are none of the values of the chart of metrics-server, even if they have no effect', async () => {
    const objects = await helmTemplate({
      addonResizer: {
        enabled: false,
        image: { repository: 'addon-resizer', tag: '1.8.23' },
        nanny: { cpu: '0m' },
      },
      'rbac.pspEnabled': false,
      extraVolumes: [{ name: 'authority', secret: { secretName: 'authority' } }],
      extraVolumeMounts: [{ name: 'authority', mountPath: '/authority' }],
      topologySpreadConstraints: [{ maxSkew: 1 }],
      dnsConfig: { nameservers: ['10.0.0.10'] },
      tmpVolume: { emptyDir: { medium: 'Memory' } },
      'serviceAccount.secrets': [{ name: 'token' }],
      podDisruptionBudget: { enabled: true, minAvailable: '50%' },
      revisionHistoryLimit: 3,
    });
    expect(objects.map(({ kind }) => kind)).to.include.members(['Deployment', 'PodDisruptionBudget']);
  });
});

/** Objects of a schema that permit no additional properties, including the root, by JSON pointer. */
function closedObjects(
  schema: ObjectSchema,
  path = '',
): readonly { path: string; names: readonly string[] }[] {
  if (schema.additionalProperties !== false) return [];
  const inner = Object.entries(schema.properties ?? {});
  return [
    { path, names: inner.map(([name]) => name) },
    ...inner.flatMap(([name, of]) => closedObjects(of, `${path}/${name}`)),
  ];
}

/** Non-empty maps, by JSON pointer. */
function mapsIn(value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const inner = Object.entries(value);
  return inner.length === 0 ? [] : [path, ...inner.flatMap(([name, of]) => mapsIn(of, `${path}/${name}`))];
}

// biome-ignore lint/suspicious/noExplicitAny: values are of any depth
function at(values: any, path: string): object {
  return path
    .split('/')
    .slice(1)
    .reduce((outer, name) => outer[name], values);
}

async function messageOf(refused: Promise<unknown>): Promise<string> {
  return await refused.then(
    () => 'it was accepted',
    (error: Error) => error.message,
  );
}
