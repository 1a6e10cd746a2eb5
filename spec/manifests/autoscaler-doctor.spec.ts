import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import type { Rbac } from '#simulator/access/rbac.ts';
import { readDefinition } from '#spec/support/definition-file.ts';
import { created, examineAutoscaler, startExaminedAutoscaler } from '#spec/support/examined-autoscaler.ts';
import {
  autoscalerTemplate,
  kustomize,
  type ManifestObject,
  onlyOf,
} from '#spec/support/manifest-objects.ts';
import { startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const ACCOUNT = 'system:serviceaccount:kube-system:autoscaler-doctor';
const CRON_HPAS = '/apis/autoscaling.stke.com/v1beta1/namespaces/default/cronhorizontalpodautoscalers';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';

describe('manifests/autoscaler-doctor', () => {
  let objects: readonly ManifestObject[];

  before(async () => {
    objects = await kustomize('manifests/autoscaler-doctor');
  });

  it('sets flags that the doctor supports', () => {
    const [container] = onlyOf(objects, 'Job').spec.template.spec.containers;
    const [command, ...args] = container.args;
    expect(command).to.equal('autoscaler');
    expect(parseAutoscalerOptions(args)).to.include({ kind: 'doctor' });
  });

  it('grants its account the permissions of every check', async () => {
    await using server = await startExaminedAutoscaler();
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } };
    const metadata = { name: 'web' };
    await created(server, DEPLOYMENTS, {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata },
      spec: { selector: { matchLabels: labels }, template },
    });
    await created(server, CRON_HPAS, {
      ...{ apiVersion: 'autoscaling.stke.com/v1beta1', kind: 'CronHorizontalPodAutoscaler', metadata },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        jobs: [{ name: 'up', schedule: '@daily', targetSize: 1 }],
      },
    });
    const { rbac, authenticator, files } = server.cluster;
    grantRoles(rbac, objects, ACCOUNT);
    grantRoles(rbac, await kustomize('manifests/overlays/autoscaler'), ACCOUNT.replace('-doctor', ''));
    authenticator.setToken('doctors-token', { username: ACCOUNT });
    const kubeconfig = join(files.directory, 'doctor.kubeconfig');
    await writeFile(kubeconfig, server.cluster.kubeconfigFor('doctor', { token: 'doctors-token' }));
    const [, , ...args] = onlyOf(objects, 'Job').spec.template.spec.containers[0].args;
    const { findings } = await examineAutoscaler(server, [...args, `--kubeconfig=${kubeconfig}`]);
    const bad = findings.filter(({ status }) => status === 'failed' || status === 'unchecked');
    // The cluster's own system:auth-delegator and reader of the front proxy's CA are not in the manifests.
    const own = bad.filter(({ subject }) => !/reviews$|configmaps/.test(subject));
    expect(own).to.deep.equal([]);
    expect(findings.some(({ seen }) => seen.startsWith('scales Deployment "web"'))).to.equal(true);
  });

  it('grants it in the chart the permissions to detect KEDA if ScaledObjects are enabled', async () => {
    const definitions = ['scaled-object', 'scaled-job'].map((name) => readDefinition(`keda/${name}`));
    await using server = await startSimulatedApiServer({ definitions });
    await created(server, '/apis/apiregistration.k8s.io/v1/apiservices', {
      ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService' },
      metadata: { name: 'v1beta1.external.metrics.k8s.io' },
      spec: {
        ...{ group: 'external.metrics.k8s.io', version: 'v1beta1', insecureSkipTLSVerify: true },
        ...{ groupPriorityMinimum: 100, versionPriority: 100 },
        service: { name: 'other', namespace: 'default' },
      },
    });
    const flags = { 'doctor.enabled': true, 'controllers.scaledobjects.enabled': true };
    const { rbac, authenticator, files } = server.cluster;
    const ofDoctor = (await autoscalerTemplate(flags)).filter(({ metadata }) =>
      metadata.name.startsWith('autoscaler-doctor'),
    );
    grantRoles(rbac, ofDoctor, ACCOUNT);
    authenticator.setToken('doctors-token', { username: ACCOUNT });
    const kubeconfig = join(files.directory, 'doctor.kubeconfig');
    await writeFile(kubeconfig, server.cluster.kubeconfigFor('doctor', { token: 'doctors-token' }));
    const { checks } = await examineAutoscaler(server, [
      ...['--controllers=scaledobjects', '--leader-elect=false', `--kubeconfig=${kubeconfig}`],
    ]);
    const reads = checks.filter(({ name }) => /^scaledobjects-(keda|metrics-provider)$/.test(name));
    expect(reads).to.have.lengthOf(2);
    const found = reads.flatMap(({ findings }) =>
      findings.map(({ status, subject }) => `${status} ${subject}`),
    );
    expect(found).to.deep.equal(['ok keda-operator', 'failed v1beta1.external.metrics.k8s.io']);
  });
});

describe('manifests/autoscaler-doctor-scaled-objects', () => {
  it('checks ScaledObjects too, with the permissions that the chart grants for them', async () => {
    const objects = await kustomize('manifests/autoscaler-doctor-scaled-objects');
    const [, ...args] = onlyOf(objects, 'Job').spec.template.spec.containers[0].args;
    const command = parseAutoscalerOptions(args);
    if (command.kind !== 'doctor') throw new Error('It does not start the doctor');
    expect([...command.options.controllers]).to.deep.equal(['cronhpa', 'scaledobjects']);
    const ofChart = (
      await autoscalerTemplate({ 'doctor.enabled': true, 'controllers.scaledobjects.enabled': true })
    ).filter(({ metadata }) => metadata.name.startsWith('autoscaler-doctor'));
    expect(rulesOf(objects)).to.deep.equal(rulesOf(ofChart));
  });
});

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** The rules of roles, each with its namespace, sorted. */
function rulesOf(objects: readonly ManifestObject[]): readonly string[] {
  return objects
    .filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role')
    .flatMap(({ metadata: { namespace = 'every' }, rules = [] }) =>
      (rules as readonly Rule[]).map(
        ({ apiGroups, resources, resourceNames = [], verbs }) =>
          `${namespace} ${apiGroups.join()} ${resources.join()} [${resourceNames.join()}] ${verbs.join()}`,
      ),
    )
    .sort();
}

/** Grants an account the roles of manifests, each in its namespace. */
function grantRoles(rbac: Rbac, objects: readonly ManifestObject[], account: string): void {
  for (const { kind, metadata, rules } of objects) {
    if (kind !== 'ClusterRole' && kind !== 'Role') continue;
    const { name, namespace } = metadata;
    const where = kind === 'Role' && namespace !== undefined && { namespace };
    rbac.grant({ name: `${account} ${kind} ${name}`, role: name, users: [account], rules, ...where });
  }
}
