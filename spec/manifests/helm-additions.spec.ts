import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse } from 'yaml';
import { parseOptions } from '#lib/resource-metrics/options.ts';
import {
  CHART,
  helmTemplate,
  kustomize,
  type ManifestObject,
  onlyOf,
} from '#spec/support/manifest-objects.ts';

describe('additions of the Helm chart to the reference', () => {
  it("has the alerts of kustomize, for the release's job in Prometheus", async () => {
    const objects = await helmTemplate({
      'prometheusRule.enabled': true,
      'prometheusRule.additionalLabels': { team: 'a' },
      'serviceMonitor.enabled': true,
      'metrics.enabled': true,
    });
    const { metadata, spec } = onlyOf(objects, 'PrometheusRule');
    expect(metadata.labels).to.include({ team: 'a' });
    expect(spec).to.deep.equal(
      onlyOf(await kustomize('manifests/overlays/release-monitored'), 'PrometheusRule').spec,
    );
    const other = await helmTemplate({ 'prometheusRule.enabled': true }, 'usage');
    const [{ rules }] = onlyOf(other, 'PrometheusRule').spec.groups;
    expect(rules[0].expr).to.equal('absent(up{job="usage"} == 1)');
    expect(onlyOf(objects, 'ServiceMonitor').spec).to.include({ jobLabel: 'app.kubernetes.io/instance' });
  });

  it('has the dashboard of kustomize, with the label that Grafana selects', async () => {
    const dashboard = { enabled: true, labels: { dashboards: 'yes' }, annotations: { folder: 'Cluster' } };
    const { data, metadata } = onlyOf(await helmTemplate({ dashboard }), 'ConfigMap');
    const kustomized = onlyOf(await kustomize('manifests/overlays/release-monitored'), 'ConfigMap');
    expect(data).to.deep.equal(kustomized.data);
    expect(metadata.labels).to.include({ dashboards: 'yes', grafana_dashboard: '1' });
    expect(metadata.annotations).to.deep.equal({ folder: 'Cluster' });
  });

  describe('the doctor', () => {
    let objects: readonly ManifestObject[];
    let ofDoctor: readonly ManifestObject[];

    before(async () => {
      objects = await helmTemplate({
        'doctor.enabled': true,
        args: ['--kubelet-insecure-tls'],
        'image.tag': 'v9',
        nodeSelector: { pool: 'system' },
      });
      ofDoctor = objects.filter(({ metadata }) => metadata.name.includes('-doctor'));
    });

    it('exists, with its account, only during helm test', () => {
      expect(ofDoctor.map(({ kind }) => kind)).to.have.members([
        'ServiceAccount',
        'ClusterRole',
        'ClusterRoleBinding',
        'RoleBinding',
        'Job',
      ]);
      for (const { kind, metadata } of ofDoctor) {
        expect(metadata.annotations, kind).to.include({ 'helm.sh/hook': 'test' });
        const policy = metadata.annotations?.['helm.sh/hook-delete-policy'];
        expect(policy?.split(','), kind).to.have.members(
          kind === 'Job' ? ['before-hook-creation'] : ['before-hook-creation', 'hook-succeeded'],
        );
      }
    });

    it('is created after its account, ordered by weight', () => {
      const weights = ofDoctor.map(({ kind, metadata }) => ({
        kind,
        weight: Number(metadata.annotations?.['helm.sh/hook-weight'] ?? 0),
      }));
      expect(weights.filter(({ weight }) => weight > 0).map(({ kind }) => kind)).to.deep.equal(['Job']);
    });

    it('has the permissions of the doctor of kustomize', async () => {
      const roles = ofDoctor.filter(({ kind }) => kind === 'ClusterRole');
      const kustomized = await kustomize('manifests/doctor');
      expect(onlyOf(roles, 'ClusterRole').rules).to.have.deep.members(
        onlyOf(kustomized, 'ClusterRole').rules,
      );
      for (const kind of ['ClusterRoleBinding', 'RoleBinding']) {
        const { roleRef, subjects } = onlyOf(ofDoctor, kind);
        expect(roleRef, kind).to.deep.equal(onlyOf(kustomized, kind).roleRef);
        expect(subjects, kind).to.deep.equal(onlyOf(kustomized, kind).subjects);
      }
    });

    it("has the server's image, flags and scheduling constraints", () => {
      const { spec } = onlyOf(ofDoctor, 'Job').spec.template;
      const [container] = spec.containers;
      const server = onlyOf(objects, 'Deployment').spec.template.spec;
      expect(container.image).to.equal('metrics-server:v9').and.to.equal(server.containers[0].image);
      expect(container.securityContext).to.deep.equal(server.containers[0].securityContext);
      expect(spec.nodeSelector).to.deep.equal({ pool: 'system' });
      const command = parseOptions(container.args);
      expect(command).to.include({ kind: 'doctor' }).and.to.have.deep.property('ignored', []);
      expect(container.args).to.include.members([
        '--kubelet-insecure-tls',
        '--service=kube-system/metrics-server',
        '--server-account=system:serviceaccount:kube-system:metrics-server',
      ]);
    });
  });

  it('is not installed by default', async () => {
    const values = parse(await readFile(`${CHART}/values.yaml`, 'utf8'));
    for (const name of ['prometheusRule', 'dashboard', 'doctor'])
      expect(values[name].enabled, name).to.equal(false);
  });
});
