import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import { findHelm } from '#spec/support/helm.ts';
import {
  AUTOSCALER_CHART,
  autoscalerTemplate,
  kustomize,
  type ManifestObject,
  onlyOf,
  serverContainer,
} from '#spec/support/manifest-objects.ts';
import { runToEnd } from '#spec/support/run-to-end.ts';
import packageJson from '../../package.json' with { type: 'json' };

const DEFINITION = 'cron-horizontal-pod-autoscaler.yaml';

describe("the autoscaler's Helm chart", () => {
  let byDefault: readonly ManifestObject[];
  let kustomized: readonly ManifestObject[];

  before(async () => {
    [byDefault, kustomized] = await Promise.all([
      autoscalerTemplate(),
      kustomize('manifests/overlays/autoscaler'),
    ]);
  });

  it("passes Helm's own lint", async () => {
    const args = ['lint', '--strict', AUTOSCALER_CHART];
    const { stdout, exitStatus } = await runToEnd(await findHelm(), args, 20_000);
    expect(exitStatus, stdout).to.equal(0);
  });

  it('has the version of the package', () => {
    const chart = parse(readFileSync(`${AUTOSCALER_CHART}/Chart.yaml`, 'utf8'));
    expect([chart.version, chart.appVersion]).to.deep.equal([packageJson.version, packageJson.version]);
  });

  it('installs by default what kustomize installs', () => {
    const named = (objects: readonly ManifestObject[]) =>
      objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
    expect(named(byDefault)).to.deep.equal(named(kustomized));
    for (const { kind, metadata, rules } of kustomized) {
      if (rules) expect(onlyOf(byDefault, kind, metadata.name).rules, metadata.name).to.deep.equal(rules);
    }
    const { args: _, ...container } = serverContainer(byDefault);
    const { args: __, ...expected } = serverContainer(kustomized);
    expect(container).to.deep.equal(expected);
  });

  it('sets flags that the autoscaler supports, and the Lease of its role', () => {
    const [command, ...args] = serverContainer(byDefault).args;
    expect(command).to.equal('autoscaler');
    const commandLine = parseAutoscalerOptions(args);
    if (commandLine.kind !== 'run') throw new Error('It does not run');
    const { controllers, leaderElection } = commandLine.options;
    expect([...controllers]).to.deep.equal(['cronhpa']);
    const role = onlyOf(byDefault, 'Role');
    expect(leaderElection?.lease).to.deep.equal({
      namespace: role.metadata.namespace,
      name: role.rules[1].resourceNames[0],
    });
  });

  it('grants no permission of a disabled controller', async () => {
    const objects = await autoscalerTemplate({
      'controllers.cronhpa.enabled': false,
      'metricsApis.custom.enabled': false,
      'metricsApis.external.enabled': false,
    });
    const roles = objects.filter(({ kind }) => kind === 'ClusterRole');
    expect(roles.map(({ metadata }) => metadata.name)).to.deep.equal(['autoscaler-events']);
    expect(serverContainer(objects).args).to.include('--controllers=');
  });

  it('leaves a disabled metrics API to another provider', async () => {
    const objects = await autoscalerTemplate({ 'metricsApis.custom.enabled': false });
    const services = objects.filter(({ kind }) => kind === 'APIService');
    expect(services.map(({ metadata }) => metadata.name)).to.deep.equal(['v1beta1.external.metrics.k8s.io']);
    expect(objects.some(({ metadata }) => metadata.name === 'autoscaler-custom-metrics')).to.equal(false);
    const commandLine = parseAutoscalerOptions(serverContainer(objects).args.slice(1));
    if (commandLine.kind !== 'run') throw new Error('It does not run');
    expect(commandLine.options.metricsAdapter).to.include({ servesCustom: false, servesExternal: true });
  });

  it('installs scaling schedules if they are enabled, with the objects of the component', async () => {
    const folder = 'manifests/components/scaling-schedule';
    const objects = await autoscalerTemplate({ 'metricsApis.custom.scalingSchedules': true });
    for (const file of ['scaling-schedule.yaml', 'cluster-scaling-schedule.yaml']) {
      const { kind, metadata, spec } = parse(readFileSync(`${folder}/${file}`, 'utf8'));
      expect(onlyOf(objects, kind, metadata.name).spec).to.deep.equal(spec);
    }
    const [role] = parseAllDocuments(readFileSync(`${folder}/rbac.yaml`, 'utf8'));
    const { rules } = onlyOf(objects, 'ClusterRole', 'autoscaler-scaling-schedule');
    expect(rules).to.deep.equal(role && 'toJS' in role ? role.toJS().rules : undefined);
    const commandLine = parseAutoscalerOptions(serverContainer(objects).args.slice(1));
    if (commandLine.kind !== 'run') throw new Error('It does not run');
    expect(commandLine.options.metricsAdapter?.scalingSchedule).to.include({ rampSteps: 10 });
  });

  it('runs objects of kubernetes-cronhpa-controller if they are enabled, with the permissions of the component', async () => {
    const objects = await autoscalerTemplate({ 'controllers.cronhpa.alibaba': true });
    const file = readFileSync('manifests/components/cron-hpa-alibaba/rbac.yaml', 'utf8');
    const [role] = parseAllDocuments(file);
    const { rules } = onlyOf(objects, 'ClusterRole', 'autoscaler-cronhpa-alibaba');
    expect(rules).to.deep.equal(role && 'toJS' in role ? role.toJS().rules : undefined);
    onlyOf(objects, 'ClusterRoleBinding', 'autoscaler-cronhpa-alibaba');
    const commandLine = parseAutoscalerOptions(serverContainer(objects).args.slice(1));
    if (commandLine.kind !== 'run') throw new Error('It does not run');
    expect(commandLine.options.cronHpa.runsAlibaba).to.equal(true);
    const disabled = await autoscalerTemplate({
      'controllers.cronhpa.alibaba': true,
      'controllers.cronhpa.enabled': false,
    });
    expect(serverContainer(disabled).args).not.to.include('--alibaba-cron-hpas');
  });

  it('has the API server verify certificates if the CA is given', async () => {
    const objects = await autoscalerTemplate({ 'metricsApis.caBundle': 'PEM' });
    for (const { kind, spec } of objects) {
      if (kind !== 'APIService') continue;
      expect(spec.caBundle).to.equal('UEVN');
      expect(spec).not.to.have.property('insecureSkipTLSVerify');
    }
  });

  it('mounts Secrets by name only', async () => {
    const objects = await autoscalerTemplate({
      'secrets[0]': 'prometheus-tls',
      'secrets[1]': 'shop.database',
    });
    const { volumes } = onlyOf(objects, 'Deployment').spec.template.spec;
    expect(volumes.slice(1)).to.deep.equal([
      { name: 'secret-prometheus-tls', secret: { secretName: 'prometheus-tls' } },
      { name: 'secret-shop-database', secret: { secretName: 'shop.database' } },
    ]);
    expect(serverContainer(objects).volumeMounts.slice(1)).to.deep.equal([
      { name: 'secret-prometheus-tls', mountPath: '/etc/autoscaler/prometheus-tls', readOnly: true },
      { name: 'secret-shop-database', mountPath: '/etc/autoscaler/shop.database', readOnly: true },
    ]);
    expect(objects.some(({ kind }) => kind === 'Secret')).to.equal(false);
  });

  it('gives the HPA controller the permissions that kustomize gives', async () => {
    const objects = await autoscalerTemplate({ 'controllers.hpa.enabled': true });
    const expected = await kustomize('manifests/overlays/autoscaler-hpa');
    expect(serverContainer(objects).args).to.include('--controllers=cronhpa,hpa');
    for (const name of ['autoscaler-hpa', 'autoscaler-hpa-scale']) {
      expect(onlyOf(objects, 'ClusterRole', name).rules).to.deep.equal(
        onlyOf(expected, 'ClusterRole', name).rules,
      );
      const { subjects, roleRef } = onlyOf(objects, 'ClusterRoleBinding', name);
      expect(subjects).to.deep.equal(onlyOf(expected, 'ClusterRoleBinding', name).subjects);
      expect(roleRef.name).to.equal(name);
    }
  });

  it('gives ScaledObjects the permissions and definitions that kustomize gives', async () => {
    const objects = await autoscalerTemplate({ 'controllers.scaledobjects.enabled': true });
    const expected = await kustomize('manifests/overlays/autoscaler-scaled-objects');
    expect(serverContainer(objects).args).to.include('--controllers=cronhpa,scaledobjects');
    for (const suffix of ['', '-scale']) {
      const name = `autoscaler-scaledobjects${suffix}`;
      expect(onlyOf(objects, 'ClusterRole', name).rules, name).to.deep.equal(
        onlyOf(expected, 'ClusterRole', name).rules,
      );
      const { subjects, roleRef } = onlyOf(objects, 'ClusterRoleBinding', name);
      expect(subjects).to.deep.equal(onlyOf(expected, 'ClusterRoleBinding', name).subjects);
      expect(roleRef.name).to.equal(name);
    }
    const kind = 'CustomResourceDefinition';
    const specsOf = (all: typeof objects) =>
      Object.fromEntries(
        all.filter((one) => one.kind === kind).map(({ metadata, spec }) => [metadata.name, spec]),
      );
    expect(Object.keys(specsOf(objects))).to.include('scaledobjects.keda.sh');
    expect(specsOf(objects)).to.deep.equal(specsOf(expected));
    const without = await autoscalerTemplate({});
    expect(Object.keys(specsOf(without))).to.deep.equal([
      'cronhorizontalpodautoscalers.autoscaling.stke.com',
    ]);
  });

  it('lets triggers use only Secrets, ConfigMaps and service accounts that a value names', async () => {
    const enabled = { 'controllers.scaledobjects.enabled': true };
    const credentials = async (values: Readonly<Record<string, unknown>>) =>
      (await autoscalerTemplate({ ...enabled, ...values })).filter(({ metadata }) =>
        metadata.name.endsWith('-credentials'),
      );
    expect(await credentials({})).to.deep.equal([]);
    const rule = (resource: string, names: readonly string[] | undefined, verb = 'get') => ({
      ...{ apiGroups: [''], resources: [resource], verbs: [verb] },
      ...(names && { resourceNames: names }),
    });
    const named = await credentials({
      'credentials.tokenAudience': 'sources',
      'credentials.namespaces': [
        { name: 'all' },
        { name: 'shop', secrets: ['login'], configMaps: [], serviceAccounts: ['worker'] },
        { name: 'none', secrets: [], configMaps: [] },
      ],
    });
    const ofKind = (kind: string) => named.filter((object) => object.kind === kind);
    expect(ofKind('Role').map(({ metadata, rules }) => [metadata.namespace, rules])).to.deep.equal([
      ['all', [rule('secrets', undefined), rule('configmaps', undefined)]],
      ['shop', [rule('secrets', ['login']), rule('serviceaccounts/token', ['worker'], 'create')]],
    ]);
    const subjects = [{ kind: 'ServiceAccount', name: 'autoscaler', namespace: 'kube-system' }];
    expect(ofKind('RoleBinding').map((one) => [one.metadata.namespace, one.subjects])).to.deep.equal([
      ['all', subjects],
      ['shop', subjects],
    ]);
    expect(named).to.have.lengthOf(4);
    const everywhere = await credentials({ 'credentials.clusterWide': true });
    const component = await kustomize('manifests/components/scaled-objects-credentials');
    expect(onlyOf(everywhere, 'ClusterRole').rules).to.deep.equal(onlyOf(component, 'ClusterRole').rules);
    expect(onlyOf(everywhere, 'ClusterRoleBinding').subjects).to.deep.equal(
      onlyOf(component, 'ClusterRoleBinding').subjects,
    );
  });

  it('requests tokens only for an audience', async () => {
    const enabled = { 'controllers.scaledobjects.enabled': true };
    const flag = '--bound-service-account-token-audience=sources';
    const { args } = serverContainer(
      await autoscalerTemplate({ ...enabled, 'credentials.tokenAudience': 'sources' }),
    );
    expect(args).to.include(flag);
    const namespaces = [{ name: 'shop', serviceAccounts: ['worker'] }];
    const failure = await autoscalerTemplate({ ...enabled, 'credentials.namespaces': namespaces }).catch(
      ({ message }: Error) => message,
    );
    expect(failure).to.include('serviceAccounts in credentials.namespaces require credentials.tokenAudience');
  });

  it('reads the lease of KEDA in one namespace, as kustomize does, which it creates if missing and never deletes', async () => {
    const enabled = { 'controllers.scaledobjects.enabled': true };
    const objects = await autoscalerTemplate(enabled);
    const expected = await kustomize('manifests/overlays/autoscaler-scaled-objects');
    const name = 'autoscaler-keda-lease';
    for (const kind of ['Role', 'RoleBinding']) {
      const { metadata, rules, subjects } = onlyOf(objects, kind, name);
      const { metadata: itsMetadata, ...its } = onlyOf(expected, kind, name);
      expect([metadata.namespace, rules, subjects]).to.deep.equal([
        itsMetadata.namespace,
        its.rules,
        its.subjects,
      ]);
    }
    const made = onlyOf(objects, 'Namespace').metadata;
    expect(made).to.deep.equal({ name: 'keda', annotations: { 'helm.sh/resource-policy': 'keep' } });
    expect(onlyOf(expected, 'Namespace').metadata.name).to.equal('keda');
    expect(serverContainer(objects).args).to.include('--keda-namespace=keda');
    const none = await autoscalerTemplate({ ...enabled, 'keda.namespace': '' });
    expect(none.filter((one) => one.kind === 'Namespace' || one.metadata.name === name)).to.deep.equal([]);
    for (const all of [objects, expected])
      for (const { kind, rules = [] } of all)
        if (kind === 'ClusterRole') expect(JSON.stringify(rules)).not.to.include('leases');
  });

  it('validates objects as kustomize does, with a certificate that its CA signed', async () => {
    const values = { 'controllers.scaledobjects.enabled': true, 'webhook.enabled': true };
    const objects = await autoscalerTemplate(values);
    const expected = await kustomize('manifests/overlays/autoscaler-scaled-objects-webhook');
    const kind = 'ValidatingWebhookConfiguration';
    const name = 'autoscaler-scaledobjects';
    const secret = onlyOf(objects, 'Secret', 'autoscaler-webhook');
    const [authority, certificate] = ['ca.crt', 'tls.crt'].map(
      (key) => new X509Certificate(Buffer.from(secret.data[key], 'base64')),
    );
    const { name: service, namespace } = onlyOf(objects, 'Service', 'autoscaler-webhook').metadata;
    expect(certificate?.checkHost(`${service}.${namespace}.svc`)).to.equal(`${service}.${namespace}.svc`);
    expect(authority && certificate?.verify(authority.publicKey)).to.equal(true);
    const webhooks = onlyOf(objects, kind, name).webhooks.map(
      ({ clientConfig: { caBundle, ...clientConfig }, ...webhook }: ReturnType<typeof JSON.parse>) => {
        expect(caBundle).to.equal(secret.data['ca.crt']);
        return { ...webhook, clientConfig };
      },
    );
    expect(webhooks).to.deep.equal(onlyOf(expected, kind, name).webhooks);
    const flags = ['--webhook-address=:9443', '--webhook-cert-dir=/etc/autoscaler-webhook'];
    for (const all of [objects, expected]) {
      const { args, ports, volumeMounts } = serverContainer(all);
      expect(args).to.include.members(flags);
      expect(ports).to.deep.include({ name: 'webhook', containerPort: 9443, protocol: 'TCP' });
      expect(volumeMounts).to.deep.include({
        ...{ name: 'webhook', mountPath: '/etc/autoscaler-webhook', readOnly: true },
      });
      const { volumes } = onlyOf(all, 'Deployment').spec.template.spec;
      expect(volumes).to.deep.include({ name: 'webhook', secret: { secretName: 'autoscaler-webhook' } });
    }
  });

  it('rejects a webhook without ScaledObjects, or without a CA of its certificate', async () => {
    for (const [values, text] of [
      [{ 'webhook.enabled': true }, 'webhook.enabled requires controllers.scaledobjects.enabled'],
      [
        {
          ...{ 'controllers.scaledobjects.enabled': true, 'webhook.enabled': true },
          'webhook.existingSecret': 'mine',
        },
        'webhook.existingSecret requires webhook.caBundle',
      ],
    ] as const) {
      const failure = await autoscalerTemplate(values).then(
        () => 'it was accepted',
        (error: Error) => error.message,
      );
      expect(failure).to.include(text);
    }
  });

  it('rejects an unknown controller', async () => {
    const failure = await autoscalerTemplate({ 'controllers.cron': { enabled: true } }).then(
      () => 'it was accepted',
      (error: Error) => error.message,
    );
    expect(failure).to.include("at '/controllers': additional properties 'cron' not allowed");
  });

  it('lets only resources be scaled that a value names', async () => {
    const scaleResources = [{ apiGroup: 'argoproj.io', resources: ['rollouts'] }];
    const role = onlyOf(await autoscalerTemplate({ scaleResources }), 'ClusterRole', 'autoscaler-scale');
    expect(role.rules).to.deep.equal([
      { apiGroups: ['argoproj.io'], resources: ['rollouts/scale'], verbs: ['get', 'update'] },
    ]);
  });

  it('installs definitions, which are upgraded with it and stay when it is uninstalled', async () => {
    const given = parse(readFileSync(`manifests/crds/${DEFINITION}`, 'utf8'));
    const { spec, metadata } = onlyOf(byDefault, 'CustomResourceDefinition');
    expect(spec).to.deep.equal(given.spec);
    expect(metadata.annotations).to.deep.equal({ 'helm.sh/resource-policy': 'keep' });
    const without = await autoscalerTemplate({ 'crds.create': false });
    expect(without.some(({ kind }) => kind === 'CustomResourceDefinition')).to.equal(false);
  });

  it('passes on replicas, resources, names and flags', async () => {
    const objects = await autoscalerTemplate(
      { replicas: 3, resources: { limits: { memory: '1Gi' } }, args: ['--cron-hpa-time-zone=Asia/Tokyo'] },
      'clock',
    );
    expect(onlyOf(objects, 'Deployment').metadata.name).to.equal('clock-autoscaler');
    expect(onlyOf(objects, 'Deployment').spec.replicas).to.equal(3);
    const { resources, args } = serverContainer(objects);
    expect(resources).to.deep.equal({ limits: { memory: '1Gi' }, requests: resources.requests });
    expect(args).to.include.members([
      '--leader-elect-resource-name=clock-autoscaler',
      '--cron-hpa-time-zone=Asia/Tokyo',
    ]);
  });

  it('has helm test run the doctor if it is enabled, with the permissions of kustomize and the flags of the release', async () => {
    const objects = await autoscalerTemplate({
      'doctor.enabled': true,
      'controllers.hpa.enabled': true,
      args: ['--cron-hpa-time-zone=Asia/Tokyo'],
    });
    const ofDoctor = objects.filter(({ metadata }) => metadata.name === 'autoscaler-doctor');
    for (const { kind, metadata } of ofDoctor)
      expect(metadata.annotations, kind).to.include({ 'helm.sh/hook': 'test' });
    const expected = await kustomize('manifests/autoscaler-doctor');
    for (const kind of ['ClusterRole', 'Role']) {
      expect(onlyOf(ofDoctor, kind).rules, kind).to.deep.equal(onlyOf(expected, kind).rules);
      const binding = onlyOf(ofDoctor, `${kind}Binding`);
      expect(binding.roleRef, kind).to.deep.equal(onlyOf(expected, `${kind}Binding`).roleRef);
      expect(binding.subjects, kind).to.deep.equal(onlyOf(expected, `${kind}Binding`).subjects);
    }
    const [container] = onlyOf(ofDoctor, 'Job').spec.template.spec.containers;
    const command = parseAutoscalerOptions(container.args.slice(1));
    if (command.kind !== 'doctor') throw new Error('It does not examine');
    expect([...command.options.controllers]).to.deep.equal(['cronhpa', 'hpa']);
    expect(command.options.cronHpa.timeZone).to.equal('Asia/Tokyo');
    expect(command.doctor.serverAccount).to.equal('system:serviceaccount:kube-system:autoscaler');
    expect(container.securityContext).to.deep.equal(serverContainer(objects).securityContext);
  });

  it('installs monitoring if it is enabled, by the name of its release', async () => {
    const objects = await autoscalerTemplate(
      {
        'serviceMonitor.enabled': true,
        'prometheusRule.enabled': true,
        'dashboard.enabled': true,
        'metrics.enabled': true,
      },
      'clock',
    );
    expect(onlyOf(objects, 'Service').metadata.labels).to.include(
      onlyOf(objects, 'ServiceMonitor').spec.selector.matchLabels,
    );
    expect(JSON.stringify(onlyOf(objects, 'PrometheusRule').spec)).to.include('job=\\"clock\\"');
    expect(JSON.parse(onlyOf(objects, 'ConfigMap').data['autoscaler.json'])).to.include({
      title: 'autoscaler',
    });
    expect(serverContainer(objects).args.join(' ')).to.match(
      /--authorization-always-allow-paths=\S*,\/metrics/,
    );
  });
});
