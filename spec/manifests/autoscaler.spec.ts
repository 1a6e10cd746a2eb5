import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import { CONFIG_MAP_NAMES } from '#lib/hpa/state/config-map-parts.ts';
import { kustomize, type ManifestObject, onlyOf, serverContainer } from '#spec/support/manifest-objects.ts';
import packageJson from '../../package.json' with { type: 'json' };

const OVERLAYS = ['autoscaler', 'autoscaler-1.20', 'autoscaler-monitored'];

interface Rule {
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

describe('manifests/autoscaler', () => {
  const overlays = new Map<string, readonly ManifestObject[]>();
  const overlay = (name: string) => overlays.get(name) ?? [];

  before(async () => {
    for (const name of OVERLAYS) overlays.set(name, await kustomize(`manifests/overlays/${name}`));
  });

  for (const name of OVERLAYS) {
    describe(`overlays/${name}`, () => {
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

      it('runs only controllers with permissions, by valid flags', () => {
        const [command, ...args] = serverContainer(overlay(name)).args;
        expect(command).to.equal('autoscaler');
        const commandLine = parseAutoscalerOptions(args);
        if (commandLine.kind !== 'run') throw new Error(`It does not run but is ${commandLine.kind}`);
        const roles = overlay(name).filter(({ kind }) => kind === 'ClusterRole');
        for (const controller of commandLine.options.controllers)
          expect(roles.map(({ metadata }) => metadata.name)).to.include(`autoscaler-${controller}`);
        expect([...commandLine.options.controllers]).to.deep.equal(['cronhpa']);
      });

      it('sets the type of its strategy, without which each kubectl apply would change it', () => {
        expect(onlyOf(overlay(name), 'Deployment').spec.strategy.type).to.equal('RollingUpdate');
      });

      it('sends the Service to the port that the autoscaler listens on', () => {
        const { args, ports } = serverContainer(overlay(name));
        expect(args).to.include(`--secure-port=${ports[0].containerPort}`);
        const { selector, ports: served } = onlyOf(overlay(name), 'Service').spec;
        expect(served[0].targetPort).to.equal(ports[0].name);
        expect(onlyOf(overlay(name), 'Deployment').spec.template.metadata.labels).to.include(selector);
      });

      it('grants permissions only to its own account, and none on all resources', () => {
        const isReader = (object: ManifestObject) => /-metrics-reader$/.test(object.metadata.name);
        const own = overlay(name).filter((object) => !isReader(object));
        const bindings = own.filter(({ kind }) => /RoleBinding$/.test(kind));
        expect(bindings).to.have.length(8);
        for (const { subjects, metadata } of bindings) {
          expect(subjects, metadata.name).to.deep.equal([
            { kind: 'ServiceAccount', name: 'autoscaler', namespace: 'kube-system' },
          ]);
        }
        for (const { kind, rules } of own) {
          if (kind !== 'ClusterRole' && kind !== 'Role') continue;
          expect(JSON.stringify(rules)).not.to.include('*').and.not.to.include('secrets');
        }
      });

      it('lets the HPA controller read the metrics that it serves', () => {
        const readers = overlay(name).filter(({ metadata }) =>
          /(?:custom|external)-metrics-reader$/.test(metadata.name),
        );
        expect(readers.flatMap(({ rules = [] }) => rules)).to.deep.equal(
          ['custom', 'external'].map((api) => ({
            apiGroups: [`${api}.metrics.k8s.io`],
            resources: ['*'],
            verbs: ['get', 'list'],
          })),
        );
        expect(readers.flatMap(({ subjects = [] }) => subjects)).to.deep.equal(
          Array(2).fill({
            kind: 'ServiceAccount',
            name: 'horizontal-pod-autoscaler',
            namespace: 'kube-system',
          }),
        );
      });

      it('keeps one of two replicas through disruptions, by the policy version of the cluster', () => {
        const budget = onlyOf(overlay(name), 'PodDisruptionBudget');
        expect(budget.apiVersion).to.equal(name === 'autoscaler-1.20' ? 'policy/v1beta1' : 'policy/v1');
        const { replicas, template } = onlyOf(overlay(name), 'Deployment').spec;
        expect(replicas).to.equal(2);
        expect(budget.spec.minAvailable).to.equal(1);
        expect(template.metadata.labels).to.include(budget.spec.selector.matchLabels);
      });
    });
  }

  for (const [folder, flags] of [
    ['manifests/overlays/autoscaler', { servesCustom: true, servesExternal: true }],
    ['manifests/autoscaler', undefined],
  ] as const) {
    it(`has ${folder} serve the metrics APIs that its APIServices name`, async () => {
      const objects = await kustomize(folder);
      const commandLine = parseAutoscalerOptions(serverContainer(objects).args.slice(1));
      if (commandLine.kind !== 'run') throw new Error('It does not run');
      if (flags) expect(commandLine.options.metricsAdapter).to.deep.include(flags);
      else expect(commandLine.options.metricsAdapter).to.equal(undefined);
      const services = objects.filter(({ kind }) => kind === 'APIService');
      expect(services.map(({ metadata }) => metadata.name)).to.deep.equal(
        flags
          ? [
              'v1beta1.custom.metrics.k8s.io',
              'v1beta1.external.metrics.k8s.io',
              'v1beta2.custom.metrics.k8s.io',
            ]
          : [],
      );
      for (const { spec, metadata } of services) {
        expect(`${spec.version}.${spec.group}`).to.equal(metadata.name);
        const { name, namespace } = onlyOf(objects, 'Service').metadata;
        expect(spec.service).to.deep.equal({ name, namespace });
      }
    });
  }

  for (const name of ['autoscaler-hpa', 'autoscaler-hpa-1.20']) {
    describe(`overlays/${name}`, () => {
      const base = name.replace('-hpa', '');
      let objects: readonly ManifestObject[];

      before(async () => {
        objects = await kustomize(`manifests/overlays/${name}`);
      });

      it('adds the HPA controller and its permissions, and nothing else', () => {
        const identity = ({ kind, metadata }: ManifestObject) => `${kind} ${metadata.name}`;
        const added = new Set(objects.map(identity)).difference(new Set(overlay(base).map(identity)));
        expect([...added].sort()).to.deep.equal([
          ...['ClusterRole autoscaler-hpa', 'ClusterRole autoscaler-hpa-scale'],
          ...['ClusterRoleBinding autoscaler-hpa', 'ClusterRoleBinding autoscaler-hpa-scale'],
        ]);
        expect(serverContainer(objects).args).to.deep.equal([
          ...serverContainer(overlay(base)).args,
          '--controllers=hpa',
        ]);
      });

      it('grants all names only for metrics, and only its own ConfigMaps', () => {
        const rules: readonly Rule[] = onlyOf(objects, 'ClusterRole', 'autoscaler-hpa').rules;
        const wide = rules.filter((rule) => JSON.stringify(rule).includes('*'));
        expect(wide).to.deep.equal([
          {
            apiGroups: ['custom.metrics.k8s.io', 'external.metrics.k8s.io'],
            resources: ['*'],
            verbs: ['get', 'list'],
          },
        ]);
        const ofConfigMaps = rules.filter(({ resources }) => resources.includes('configmaps'));
        for (const { verbs, resourceNames } of ofConfigMaps)
          if (!verbs.includes('create')) expect(resourceNames).to.deep.equal([...CONFIG_MAP_NAMES]);
      });
    });
  }

  it('lets no overlay read Secrets or request tokens, or read leases of other namespaces', async () => {
    const names = readdirSync('manifests/overlays').filter((name) => name.startsWith('autoscaler'));
    expect(names).to.include('autoscaler-scaled-objects-webhook');
    for (const name of names) {
      for (const { kind, metadata, rules = [] } of await kustomize(`manifests/overlays/${name}`)) {
        const wide =
          kind === 'ClusterRole' ? /secrets|serviceaccounts|configmaps|leases/ : /secrets|serviceaccounts/;
        const granted = (rules as readonly Rule[]).filter(({ resources = [] }) =>
          wide.test(resources.join()),
        );
        // The HPA controller persists state in each namespace with HPAs; a spec above compares the names of its objects.
        if (metadata.name !== 'autoscaler-hpa')
          expect(granted, `${name}: ${metadata.name}`).to.deep.equal([]);
      }
    }
  });

  it('uses the same Lease in its flags and its role', () => {
    const commandLine = parseAutoscalerOptions(serverContainer(overlay('autoscaler')).args.slice(1));
    if (commandLine.kind !== 'run') throw new Error('It does not run');
    const role = onlyOf(overlay('autoscaler'), 'Role', 'autoscaler-leader-election');
    const { lease } = commandLine.options.leaderElection ?? {};
    expect(lease).to.deep.equal({ namespace: role.metadata.namespace, name: role.rules[1].resourceNames[0] });
  });

  it('uses the image of the metrics server, in the version of the package', () => {
    expect(serverContainer(overlay('autoscaler')).image).to.equal(`metrics-server:v${packageJson.version}`);
  });
});
