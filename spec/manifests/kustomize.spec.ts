import { expect } from 'chai';
import { parseOptions } from '#lib/resource-metrics/options.ts';
import { kustomize, type ManifestObject, onlyOf, serverContainer } from '#spec/support/manifest-objects.ts';
import packageJson from '../../package.json' with { type: 'json' };

const OVERLAYS = ['release', 'release-ha', 'release-ha-1.20', 'test', 'test-ha'];

describe('manifests/', () => {
  const overlays = new Map<string, readonly ManifestObject[]>();
  const overlay = (name: string) => overlays.get(name) ?? [];

  before(async () => {
    for (const name of OVERLAYS) overlays.set(name, await kustomize(`manifests/overlays/${name}`));
  });

  for (const name of OVERLAYS) {
    describe(`overlays/${name}`, () => {
      it('has the object names and the selector of metrics-server, to replace it', () => {
        const names = overlay(name).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
        expect(names.filter((one) => !one.startsWith('PodDisruptionBudget'))).to.have.members([
          'ServiceAccount metrics-server',
          'ClusterRole system:aggregated-metrics-reader',
          'ClusterRole system:metrics-server',
          'RoleBinding metrics-server-auth-reader',
          'ClusterRoleBinding metrics-server:system:auth-delegator',
          'ClusterRoleBinding system:metrics-server',
          'Service metrics-server',
          'Deployment metrics-server',
          'APIService v1beta1.metrics.k8s.io',
        ]);
        expect(onlyOf(overlay(name), 'Deployment').spec.selector.matchLabels).to.deep.equal({
          'k8s-app': 'metrics-server',
        });
      });

      it('gives the container no unnecessary privilege', () => {
        expect(serverContainer(overlay(name)).securityContext).to.deep.equal({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          runAsNonRoot: true,
          runAsUser: 65532,
          runAsGroup: 65532,
          capabilities: { drop: ['ALL'] },
          seccompProfile: { type: 'RuntimeDefault' },
        });
      });

      it('sets flags that the server supports and uses', () => {
        const commandLine = parseOptions(serverContainer(overlay(name)).args);
        expect(commandLine).to.include({ kind: 'run' }).and.to.have.deep.property('ignored', []);
      });

      it('sends the Service to the port that the server listens on', () => {
        const { args, ports } = serverContainer(overlay(name));
        expect(args).to.include(`--secure-port=${ports[0].containerPort}`);
        expect(onlyOf(overlay(name), 'Service').spec.ports[0].targetPort).to.equal(ports[0].name);
      });
    });
  }

  it('sets the type of its strategy, without which each kubectl apply would change it', () => {
    for (const name of OVERLAYS)
      expect(onlyOf(overlay(name), 'Deployment').spec.strategy.type, name).to.equal('RollingUpdate');
  });

  it('releases the version of the package', () => {
    expect(serverContainer(overlay('release')).image).to.equal(`metrics-server:v${packageJson.version}`);
  });

  it('runs one replica per node, and keeps one of two through disruptions, for high availability', () => {
    for (const [name, apiVersion] of [
      ['release-ha', 'policy/v1'],
      ['release-ha-1.20', 'policy/v1beta1'],
      ['test-ha', 'policy/v1'],
    ] as const) {
      const budget = onlyOf(overlay(name), 'PodDisruptionBudget');
      expect(budget.apiVersion).to.equal(apiVersion);
      expect(budget.spec).to.deep.equal({
        minAvailable: 1,
        selector: { matchLabels: { 'k8s-app': 'metrics-server' } },
      });
      const { replicas, template } = onlyOf(overlay(name), 'Deployment').spec;
      expect(replicas).to.equal(2);
      const [term] = template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution;
      expect(term.topologyKey).to.equal('kubernetes.io/hostname');
      expect(template.metadata.labels).to.include(term.labelSelector.matchLabels);
    }
  });

  it('skips verification of kubelets only in the overlays for testing', () => {
    const blind = OVERLAYS.filter((name) =>
      serverContainer(overlay(name)).args.includes('--kubelet-insecure-tls'),
    );
    expect(blind).to.deep.equal(['test', 'test-ha']);
  });
});
