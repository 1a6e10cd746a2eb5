import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { findHelm } from '#spec/support/helm.ts';
import { findKubectl, Kubectl } from '#spec/support/kubectl.ts';
import {
  AUTOSCALER_CHART,
  CHART,
  kustomize,
  type ManifestObject,
  objectsIn,
} from '#spec/support/manifest-objects.ts';
import { runToEnd } from '#spec/support/run-to-end.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { needBinaries } from '../control-plane/need-binaries.ts';

const AUTOSCALER_OVERLAYS = readdirSync('manifests/overlays').filter((name) => name.startsWith('autoscaler'));

const FOLDERS = [
  ...['release', 'release-ha', 'release-ha-1.20', 'release-monitored', 'test', 'test-ha'].map(
    (overlay) => `overlays/${overlay}`,
  ),
  'doctor',
  ...AUTOSCALER_OVERLAYS.map((overlay) => `overlays/${overlay}`),
  ...['autoscaler-doctor', 'autoscaler-doctor-scaled-objects'],
];

/** One set of values for each branch of the chart. */
const VALUES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'its defaults': {},
  'a disruption budget, three replicas and a schedule': {
    replicas: 3,
    podDisruptionBudget: { enabled: true, minAvailable: 1 },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
    nodeSelector: { pool: 'system' },
    tolerations: [{ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }],
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: {} },
    ],
    affinity: { nodeAffinity: {} },
    dnsConfig: { options: [{ name: 'ndots', value: '1' }] },
    schedulerName: 'other',
    revisionHistoryLimit: 2,
    priorityClassName: 'system-node-critical',
  },
  'names, labels and annotations': {
    nameOverride: 'usage',
    fullnameOverride: 'cluster-usage',
    commonLabels: { team: 'platform' },
    podLabels: { zone: 'a' },
    podAnnotations: { note: 'x' },
    deploymentAnnotations: { note: 'x' },
    serviceAccount: { name: 'other', annotations: { note: 'x' }, secrets: [{ name: 'some' }] },
    service: { annotations: { note: 'x' }, labels: { note: 'x' }, port: 8443 },
    apiService: { annotations: { note: 'x' } },
    imagePullSecrets: [{ name: 'some' }],
  },
  'the host network, volumes and constraints': {
    hostNetwork: { enabled: true },
    containerPort: 4443,
    podSecurityContext: { fsGroup: 65532 },
    tmpVolume: { emptyDir: { medium: 'Memory' } },
    extraVolumes: [{ name: 'more', emptyDir: {} }],
    extraVolumeMounts: [{ name: 'more', mountPath: '/more' }],
    resources: { limits: { memory: '1Gi' } },
  },
  'a certificate of its own making': { tls: { type: 'helm' } },
  'a certificate by cert-manager': { tls: { type: 'cert-manager' } },
  'a certificate that is there': {
    tls: { type: 'existingSecret', existingSecret: { name: 'mine', lookup: true } },
  },
  'Prometheus and Grafana': {
    metrics: { enabled: true },
    serviceMonitor: { enabled: true },
    prometheusRule: { enabled: true },
    dashboard: { enabled: true },
  },
  'the doctor': { doctor: { enabled: true } },
};

/** Like {@link VALUES}, for the autoscaler's chart. */
const AUTOSCALER_VALUES: typeof VALUES = {
  'its defaults': {},
  'every controller, the doctor, Prometheus and Grafana': {
    controllers: { cronhpa: { enabled: true }, hpa: { enabled: true } },
    doctor: { enabled: true },
    metrics: { enabled: true },
    serviceMonitor: { enabled: true },
    prometheusRule: { enabled: true },
    dashboard: { enabled: true },
  },
  'no controller and no metrics API': {
    controllers: { cronhpa: { enabled: false } },
    metricsApis: { custom: { enabled: false }, external: { enabled: false } },
  },
  'names, labels, annotations, places and kinds to scale': {
    fullnameOverride: 'scaler',
    commonLabels: { team: 'platform' },
    podLabels: { zone: 'a' },
    podAnnotations: { note: 'x' },
    serviceAccount: { name: 'other', annotations: { note: 'x' } },
    service: { annotations: { note: 'x' }, labels: { note: 'x' }, port: 8443 },
    imagePullSecrets: [{ name: 'some' }],
    nodeSelector: { pool: 'system' },
    tolerations: [{ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }],
    affinity: { nodeAffinity: {} },
    metricsApis: { caBundle: 'PEM' },
    scaleResources: [{ apiGroup: 'argoproj.io', resources: ['rollouts'] }],
    replicas: 3,
  },
};

describe('the manifests, on a real API server', function () {
  this.timeout(120_000);

  let controlPlane: ControlPlane;
  let kubectl: Kubectl;
  let written = 0;

  before(async () => {
    controlPlane = await ControlPlane.start(await needBinaries());
    kubectl = new Kubectl(await findKubectl(), controlPlane.kubeconfig);
    // Stand-ins without a schema: the API server validates only the metadata of these kinds.
    await apply(
      customKind('certificates', 'Certificate', 'cert-manager.io', 'v1'),
      customKind('issuers', 'Issuer', 'cert-manager.io', 'v1'),
      customKind('servicemonitors', 'ServiceMonitor', 'monitoring.coreos.com', 'v1'),
      customKind('prometheusrules', 'PrometheusRule', 'monitoring.coreos.com', 'v1'),
    );
    const secret = ['create', 'secret', 'generic', 'mine', '--namespace=kube-system'];
    await run(
      ...secret,
      '--from-literal=tls.crt=certificate',
      '--from-literal=tls.key=key',
      '--from-literal=ca.crt=authority',
    );
  });

  after(() => controlPlane?.[Symbol.asyncDispose]());

  for (const folder of FOLDERS) {
    it(`contain only valid objects in ${folder}`, async () => {
      const objects = await kustomize(`manifests/${folder}`);
      await judge(await Promise.all(objects.map(asServed)));
    });
  }

  for (const [what, values] of Object.entries(VALUES)) {
    it(`contain only valid objects in the chart with ${what}`, async () => {
      const objects = await rendered(await chartWith(values));
      expect(objects.length).to.be.at.least(9);
      await judge(objects);
    });
  }

  for (const [what, values] of Object.entries(AUTOSCALER_VALUES)) {
    it(`contain only valid objects in the autoscaler's chart with ${what}`, async () => {
      const objects = await rendered(await autoscalerWith(values));
      expect(objects.length).to.be.at.least(8);
      await judge(objects);
    });
  }

  it("let Helm install, upgrade and uninstall the autoscaler's chart, whose definitions and objects stay", async () => {
    const values = await autoscalerWith(WITHOUT_API_SERVICES);
    const crd = 'crd/cronhorizontalpodautoscalers.autoscaling.stke.com';
    const shortNames = '--output=jsonpath={.spec.names.shortNames}';
    await helm('install', ...values);
    await run('wait', '--for=condition=Established', crd);
    await run('apply', '--filename', await write([CRON_HPA]));
    // A state that an older release may have left.
    await run('patch', crd, '--type=merge', '--patch={"spec":{"names":{"shortNames":["old"]}}}');
    expect(await run('get', crd, shortNames)).to.equal('["old"]');
    await helm('upgrade', ...values, ...(await byForce()));
    expect(await run('get', crd, shortNames)).to.equal('["cronhpa"]');
    await helm('uninstall', 'autoscaler', '--namespace=kube-system');
    const left = await run(
      'get',
      'all,clusterroles',
      '--all-namespaces',
      `--selector=${OF_RELEASE}`,
      '--output=name',
    );
    expect(left).to.equal('');
    expect(await run('get', 'cronhorizontalpodautoscalers', '--all-namespaces', '--output=name')).to.include(
      'web',
    );
    await helm('install', ...values); // the next release adopts the remaining objects
    await helm('uninstall', 'autoscaler', '--namespace=kube-system');
  });

  it('let Helm install the chart, upgrade it with the same certificate, and uninstall it', async () => {
    const values = await chartWith({
      tls: { type: 'helm' },
      podDisruptionBudget: { enabled: true, minAvailable: 1 },
    });
    // Kubernetes 1.20 fails on server-side apply of an APIService, which is the default of Helm 4.
    const { stdout: version } = await runToEnd(await findHelm(), ['version', '--short'], 10_000);
    const byClient = version.startsWith('v3') ? [] : ['--server-side=false'];
    await helm('install', ...values, ...byClient);
    const bundle = async () => {
      const path = '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io';
      return (await controlPlane.client.get<ManifestObject>(path)).spec.caBundle;
    };
    const installed = await bundle();
    expect(installed).to.be.a('string');
    await helm('upgrade', ...values, ...byClient, '--set=replicas=2');
    expect(await bundle()).to.equal(installed);
    await helm('uninstall', 'metrics-server', '--namespace=kube-system');
    expect(
      await run(
        'get',
        'all',
        '--namespace=kube-system',
        '--selector=app.kubernetes.io/name=metrics-server',
        '--output=name',
      ),
    ).not.to.include('deployment');
  });

  async function run(...args: readonly string[]): Promise<string> {
    const { stdout, stderr, exitStatus } = await kubectl.run(args, 60_000);
    expect(exitStatus, `kubectl ${args.join(' ')}: ${stderr}`).to.equal(0);
    return stdout;
  }

  async function helm(...args: readonly string[]): Promise<string> {
    const { stdout, stderr, exitStatus } = await runToEnd(
      await findHelm(),
      ['--kubeconfig', controlPlane.kubeconfig, ...args],
      60_000,
    );
    expect(exitStatus, `helm ${args.join(' ')}: ${stderr}`).to.equal(0);
    return stdout;
  }

  /**
   * Renders a chart. Helm queries the server's versions and objects; the result can then be validated object by object.
   */
  async function rendered(chart: readonly string[]): Promise<readonly ManifestObject[]> {
    const { manifest, hooks = [] } = JSON.parse(
      await helm('install', '--dry-run=server', '--output=json', ...chart),
    );
    const objects = [manifest, ...hooks.map((hook: { manifest: string }) => hook.manifest)].flatMap(
      objectsIn,
    );
    return await Promise.all(objects.map(asServed));
  }

  async function autoscalerWith(values: object): Promise<readonly string[]> {
    return ['autoscaler', AUTOSCALER_CHART, '--namespace=kube-system', `--values=${await write(values)}`];
  }

  async function chartWith(values: object): Promise<readonly string[]> {
    return ['metrics-server', CHART, '--namespace=kube-system', `--values=${await write(values)}`];
  }

  async function apply(...objects: readonly object[]): Promise<void> {
    await run('apply', '--filename', await write(objects));
    await run('wait', '--for=condition=Established', 'crd', '--all');
  }

  /** @returns the path of a file with an object, or a list of objects */
  async function write(content: object): Promise<string> {
    const path = join(controlPlane.folder, `written-${++written}.json`);
    const object = Array.isArray(content) ? { apiVersion: 'v1', kind: 'List', items: content } : content;
    await writeFile(path, JSON.stringify(object));
    return path;
  }

  /**
   * Validates objects by a server-side dry run of kubectl apply. Namespaces are created, because a dry run of their
   * contents requires them.
   */
  async function judge(objects: readonly ManifestObject[]): Promise<void> {
    const namespaces = objects.filter(({ kind }) => kind === 'Namespace');
    if (namespaces.length > 0) await run('apply', '--filename', await write(namespaces));
    await run('apply', '--dry-run=server', '--filename', await write(objects));
  }

  /**
   * Converts a PodDisruptionBudget to the served version, policy/v1 or policy/v1beta1, which are equal in the fields
   * that ours use. Returns other objects unchanged.
   */
  async function asServed(object: ManifestObject): Promise<ManifestObject> {
    if (object.kind !== 'PodDisruptionBudget') return object;
    const versions = (await run('api-versions')).split('\n');
    const apiVersion = versions.find((one) => one === 'policy/v1' || one === 'policy/v1beta1') ?? 'policy/v1';
    return { ...object, apiVersion };
  }
});

/** Kubernetes 1.20 fails on server-side apply of an APIService, which is the default of Helm 4. */
const WITHOUT_API_SERVICES = { metricsApis: { custom: { enabled: false }, external: { enabled: false } } };

const OF_RELEASE = 'app.kubernetes.io/instance=autoscaler';

const CRON_HPA = {
  apiVersion: 'autoscaling.stke.com/v1beta1',
  kind: 'CronHorizontalPodAutoscaler',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    jobs: [{ name: 'up', schedule: '@daily', targetSize: 2 }],
  },
};

/** Helm 4 uses server-side apply, in which a field of another manager is a conflict. */
async function byForce(): Promise<readonly string[]> {
  const { stdout: version } = await runToEnd(await findHelm(), ['version', '--short'], 10_000);
  return version.startsWith('v3') ? [] : ['--force-conflicts'];
}

function customKind(plural: string, kind: string, group: string, version: string): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
}
