import { X509Certificate } from 'node:crypto';
import { cp, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse as parseYaml } from 'yaml';
import { parseOptions } from '#lib/resource-metrics/options.ts';
import { findHelm } from '#spec/support/helm.ts';
import {
  CHART,
  helmTemplate,
  kustomize,
  type ManifestObject,
  objectsIn,
  onlyOf,
  serverContainer,
} from '#spec/support/manifest-objects.ts';
import { runToEnd } from '#spec/support/run-to-end.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';
import packageJson from '../../package.json' with { type: 'json' };

describe('the Helm chart', () => {
  let byDefault: readonly ManifestObject[];
  let kustomized: readonly ManifestObject[];

  before(async () => {
    [byDefault, kustomized] = await Promise.all([helmTemplate(), kustomize('manifests/overlays/release')]);
  });

  it("passes Helm's own lint", async () => {
    const { stdout, exitStatus } = await runToEnd(await findHelm(), ['lint', '--strict', CHART], 20_000);
    expect(exitStatus, stdout).to.equal(0);
  });

  it('has the version of the package', async () => {
    const chart = parseYaml(await readFile(`${CHART}/Chart.yaml`, 'utf8'));
    expect([chart.version, chart.appVersion]).to.deep.equal([packageJson.version, packageJson.version]);
  });

  it('installs by default what kustomize installs', () => {
    const kinds = (objects: readonly ManifestObject[]) => objects.map(({ kind }) => kind).sort();
    expect(kinds(byDefault)).to.deep.equal(kinds(kustomized));
    const { args, ...container } = serverContainer(byDefault);
    const { args: expectedArgs, ...expected } = serverContainer(kustomized);
    expect({ ...container, livenessProbe: withDelay(container.livenessProbe) }).to.deep.equal({
      ...expected,
      livenessProbe: withDelay(expected.livenessProbe),
    });
    expect(args).to.have.members(expectedArgs);
    expect(onlyOf(byDefault, 'ClusterRole', 'system:metrics-server').rules).to.deep.equal(
      onlyOf(kustomized, 'ClusterRole', 'system:metrics-server').rules,
    );
    const { port: _, ...service } = onlyOf(byDefault, 'APIService').spec.service;
    expect({ ...onlyOf(byDefault, 'APIService').spec, service }).to.deep.equal(
      onlyOf(kustomized, 'APIService').spec,
    );
  });

  it('passes on replicas, resources, flags and scheduling constraints', async () => {
    const objects = await helmTemplate({
      replicas: 3,
      args: ['--kubelet-insecure-tls', '--node-selector=pool in (a,b)'],
      resources: { limits: { memory: '1Gi' } },
      nodeSelector: { pool: 'system' },
      tolerations: [{ operator: 'Exists' }],
      hostNetwork: { enabled: true },
      containerPort: 4443,
      image: { repository: 'registry.example/metrics-server', tag: 'v9' },
    });
    const { replicas, template } = onlyOf(objects, 'Deployment').spec;
    expect(replicas).to.equal(3);
    expect(template.spec).to.deep.include({
      nodeSelector: { pool: 'system' },
      tolerations: [{ operator: 'Exists' }],
      hostNetwork: true,
    });
    const container = serverContainer(objects);
    expect(container.image).to.equal('registry.example/metrics-server:v9');
    expect(container.resources).to.deep.include({ limits: { memory: '1Gi' } });
    expect(container.args).to.include.members(['--secure-port=4443', '--node-selector=pool in (a,b)']);
    expect(parseOptions(container.args)).to.include({ kind: 'run' });
  });

  it('creates no roles, account or APIService if they are disabled', async () => {
    const objects = await helmTemplate({
      'rbac.create': false,
      'serviceAccount.create': false,
      'apiService.create': false,
    });
    expect(objects.map(({ kind }) => kind)).to.have.members(['Service', 'Deployment']);
  });

  describe('with a disruption budget', () => {
    const budget = { enabled: true, maxUnavailable: 0 };

    it('uses the policy version of the cluster', async () => {
      const modern = onlyOf(await helmTemplate({ podDisruptionBudget: budget }), 'PodDisruptionBudget');
      expect(modern.apiVersion).to.equal('policy/v1');
      expect(modern.spec).to.include({ maxUnavailable: 0 }).and.not.to.have.property('minAvailable');
    });

    it('rejects both bounds together', async () => {
      const failure = await messageOf(helmTemplate({ podDisruptionBudget: { ...budget, minAvailable: 1 } }));
      expect(failure).to.include(
        'podDisruptionBudget.minAvailable and podDisruptionBudget.maxUnavailable are mutually exclusive',
      );
    });
  });

  describe('with tls.type', () => {
    const secretOf = (objects: readonly ManifestObject[]) =>
      onlyOf(objects, 'Deployment').spec.template.spec.volumes.find(
        ({ name }: { name: string }) => name === 'serving-certificate',
      )?.secret.secretName;

    it('metrics-server: skips verification, or verifies by the given bundle', async () => {
      expect(secretOf(byDefault)).to.equal(undefined);
      expect(onlyOf(byDefault, 'APIService').spec).to.include({ insecureSkipTLSVerify: true });
      const given = await helmTemplate({ 'apiService.caBundle': 'PEM' });
      expect(onlyOf(given, 'APIService').spec)
        .to.include({ caBundle: 'UEVN' })
        .and.not.to.have.property('insecureSkipTLSVerify');
    });

    it('helm: creates the certificate that the APIService verifies', async () => {
      const objects = await helmTemplate({ 'tls.type': 'helm' });
      const { data, metadata } = onlyOf(objects, 'Secret');
      const { caBundle, ...spec } = onlyOf(objects, 'APIService').spec;
      expect(spec).not.to.have.property('insecureSkipTLSVerify');
      expect(caBundle).to.equal(data['tls.crt']);
      expect(secretOf(objects)).to.equal(metadata.name);
      const certificate = new X509Certificate(Buffer.from(data['tls.crt'], 'base64'));
      expect(certificate.checkHost('metrics-server.kube-system.svc')).to.be.a('string');
      expect(serverContainer(objects).args).to.include('--tls-cert-file=/serving-certificate/tls.crt');
    });

    it("helm: keeps the Secret type of metrics-server's chart, which cannot change", async () => {
      const { metadata, type } = onlyOf(await helmTemplate({ 'tls.type': 'helm' }), 'Secret');
      expect({ name: metadata.name, type }).to.deep.equal({ name: 'metrics-server', type: 'Opaque' });
    });

    it('cert-manager: requests a certificate and the bundle', async () => {
      const objects = await helmTemplate({ 'tls.type': 'cert-manager', 'tls.certManager.duration': '2160h' });
      const certificate = onlyOf(objects, 'Certificate');
      expect(certificate.spec.issuerRef.name).to.equal(onlyOf(objects, 'Issuer').metadata.name);
      expect(certificate.spec).to.include({ duration: '2160h', secretName: secretOf(objects) });
      expect(certificate.spec.dnsNames).to.include('metrics-server.kube-system.svc');
      expect(onlyOf(objects, 'APIService').metadata.annotations).to.deep.equal({
        'cert-manager.io/inject-ca-from': 'kube-system/metrics-server',
      });
      expect(onlyOf(objects, 'APIService').spec).not.to.have.property('insecureSkipTLSVerify');
    });

    it('cert-manager: uses an existing issuer', async () => {
      const existingIssuer = { enabled: true, kind: 'ClusterIssuer', name: 'company' };
      const objects = await helmTemplate({
        'tls.type': 'cert-manager',
        'tls.certManager.existingIssuer': existingIssuer,
      });
      expect(objects.some(({ kind }) => kind === 'Issuer')).to.equal(false);
      expect(onlyOf(objects, 'Certificate').spec.issuerRef).to.include({
        kind: 'ClusterIssuer',
        name: 'company',
      });
    });

    it('existingSecret: serves with the certificate of the Secret', async () => {
      const objects = await helmTemplate({
        'tls.type': 'existingSecret',
        'tls.existingSecret.name': 'mine',
        'apiService.caBundle': 'PEM',
      });
      expect(secretOf(objects)).to.equal('mine');
      expect(onlyOf(objects, 'APIService').spec).to.include({ caBundle: 'UEVN' });
    });

    it('existingSecret: requires its name', async () => {
      expect(await messageOf(helmTemplate({ 'tls.type': 'existingSecret' }))).to.include(
        'tls.existingSecret.name must name a Secret',
      );
    });

    it('rejects other types', async () => {
      expect(await messageOf(helmTemplate({ 'tls.type': 'vault' }))).to.include(
        "at '/tls/type': value must be one of 'metrics-server', 'helm', 'cert-manager', 'existingSecret'",
      );
    });
  });

  it('moves everything to namespaceOverride but roles of the configuration of API servers', async () => {
    const objects = await helmTemplate({
      ...{
        'podDisruptionBudget.enabled': true,
        'podDisruptionBudget.minAvailable': 1,
        'doctor.enabled': true,
      },
      ...{ 'serviceMonitor.enabled': true, 'prometheusRule.enabled': true, 'dashboard.enabled': true },
      ...{ 'tls.type': 'cert-manager', namespaceOverride: 'monitoring' },
    });
    for (const { kind, metadata } of objects.filter((one) => one.metadata.namespace !== undefined)) {
      const namespace = kind === 'RoleBinding' ? 'kube-system' : 'monitoring';
      expect(metadata.namespace, `${kind} ${metadata.name}`).to.equal(namespace);
    }
    const moved = JSON.stringify(objects);
    for (const text of ['.monitoring.svc', '--service=monitoring/', 'inject-ca-from":"monitoring/'])
      expect(moved).to.include(text);
    expect(moved.match(/"(?:namespace":")?[^"]*kube-system[^"]*"/g)).to.deep.equal(
      objects.filter(({ kind }) => kind === 'RoleBinding').map(() => '"namespace":"kube-system"'),
    );
  });

  it("renders with the values of a release of the reference's older chart alone, which helm upgrade may reuse", async () => {
    await using folder = await TemporaryDirectory.create();
    await cp(CHART, folder.path, { recursive: true });
    const values = Object.entries(parseYaml(await readFile(`${CHART}/values.yaml`, 'utf8')));
    const added = ['dashboard', 'doctor', 'hostUsers', 'namespaceOverride', 'prometheusRule', 'tls'];
    const old = Object.fromEntries(values.filter(([name]) => !added.includes(name)));
    expect(Object.keys(old)).to.have.lengthOf(values.length - added.length);
    await folder.write('values.yaml', JSON.stringify(old));
    const template = ['template', 'metrics-server', folder.path, '--namespace=kube-system'];
    const { stdout, stderr } = await runToEnd(await findHelm(), template, 20_000);
    expect(objectsIn(stdout), stderr).to.deep.equal(byDefault);
  });

  it('runs pods in a user namespace only if hostUsers says so', async () => {
    const podOf = (objects: readonly ManifestObject[]) => onlyOf(objects, 'Deployment').spec.template.spec;
    expect(podOf(byDefault)).not.to.have.property('hostUsers');
    expect(podOf(await helmTemplate({ hostUsers: false }))).to.have.property('hostUsers', false);
    expect(podOf(await helmTemplate({ hostUsers: true }))).to.have.property('hostUsers', true);
  });

  it('renders a ServiceMonitor without metrics.enabled, as the chart of metrics-server does, and warns that /metrics requires credentials', async () => {
    const monitored = { 'serviceMonitor.enabled': true };
    expect(onlyOf(await helmTemplate(monitored), 'ServiceMonitor').spec.endpoints[0]).to.include({
      path: '/metrics',
    });
    const notes = async (...flags: readonly string[]) => {
      const install = ['install', 'release', CHART, '--dry-run=client', '--set=serviceMonitor.enabled=true'];
      return (await runToEnd(await findHelm(), [...install, ...flags], 20_000)).stdout;
    };
    const warning = 'The ServiceMonitor sends no credentials';
    expect(await notes()).to.include(warning);
    expect(await notes('--set=metrics.enabled=true'))
      .to.include('is installed')
      .and.not.to.include(warning);
  });

  it("lets Prometheus scrape the server's own metrics", async () => {
    const objects = await helmTemplate({
      'metrics.enabled': true,
      'serviceMonitor.enabled': true,
      'serviceMonitor.additionalLabels': { team: 'a' },
    });
    const { metadata, spec } = onlyOf(objects, 'ServiceMonitor');
    expect(metadata.labels).to.include({ team: 'a' });
    expect(spec.endpoints[0]).to.include({ port: 'https', path: '/metrics', scheme: 'https' });
    expect(onlyOf(objects, 'Service').metadata.labels).to.include(spec.selector.matchLabels);
    expect(serverContainer(objects).args.join(' ')).to.match(
      /--authorization-always-allow-paths=\S*,\/metrics/,
    );
  });
});

/** The chart writes a delay of 0, which is the default. */
function withDelay(probe: object): object {
  return { initialDelaySeconds: 0, ...probe };
}

async function messageOf(refused: Promise<unknown>): Promise<string> {
  return await refused.then(
    () => 'it was accepted',
    (error: Error) => error.message,
  );
}
