import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import type { Check } from '#lib/doctor/check.ts';
import { ClusterContext } from '#lib/doctor/cluster-context.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ExaminedObjects } from '#lib/scaled-objects/doctor/definitions.ts';
import { metricsProvider } from '#lib/scaled-objects/doctor/metrics-provider.ts';
import { runningKeda } from '#lib/scaled-objects/doctor/running-keda.ts';
import { scaledObjectsDoctor } from '#lib/scaled-objects/doctor/scaled-objects-doctor.ts';
import { forRequests, refuseRequests } from '#simulator/api-server/faults.ts';
import { readDefinition } from '#spec/support/definition-file.ts';
import { created } from '#spec/support/examined-autoscaler.ts';
import { PATHS } from '#spec/support/scaled-objects-cluster.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const CRDS = ['scaled-object', 'scaled-job', 'trigger-authentication', 'cluster-trigger-authentication'];
const DEFINITIONS = CRDS.map((name) => readDefinition(`keda/${name}`));
const EXTERNAL = 'v1beta1.external.metrics.k8s.io';
const LEASE = 'lease default/operator.keda.sh';
const OPTIONS = {
  ...{ namespaces: [], clusterNamespace: 'kube-system', restrictsSecrets: false, fileRoot: undefined },
  ...{ tokenLifetimeS: 3600, tokenAudience: undefined, kedaNamespace: 'keda', kedaLeaseEverywhere: false },
};

describe('scaledObjectsDoctor, check by check', () => {
  let server: SimulatedApiServer;
  const run = async (check: Check) => {
    const access = await server.access();
    const { clock } = server;
    await using client = new ApiClient({ access, clock, userAgent: 'spec/1', requestTimeoutMs: 1e12 });
    const { signal } = new AbortController();
    return await check.run(new ClusterContext({ access, client, clock, signal, serverAccount: undefined }));
  };
  const reported = async (check: Check) =>
    (await run(check)).map(({ status, subject, seen }) => `${status} ${subject}: ${seen}`);

  beforeEach(async () => {
    server = await startSimulatedApiServer({ definitions: DEFINITIONS });
  });

  afterEach(() => server[Symbol.asyncDispose]());

  const checksOf = (namespace: string | undefined, options: Partial<typeof OPTIONS> = {}) =>
    scaledObjectsDoctor({
      ...{
        options: { ...OPTIONS, ...options },
        namespace,
        allowedHosts: [],
        httpTimeoutMs: 1000,
        awsIdentityHosts: [],
        sharedServiceNamespaces: [],
      },
    });

  it('checks each permission of the manifests, except those for one admission plugin', () => {
    const given = ['rbac', 'keda-lease']
      .flatMap((file) =>
        parseAllDocuments(readFileSync(`manifests/components/scaled-objects/${file}.yaml`, 'utf8')),
      )
      .map((document) => document.toJS())
      .filter(({ metadata }) => /^autoscaler-(?:scaledobjects|keda-lease)$/.test(metadata.name))
      .flatMap(({ rules }) => rules ?? [])
      .flatMap((rule: Record<'apiGroups' | 'resources' | 'resourceNames' | 'verbs', readonly string[]>) =>
        rule.apiGroups.flatMap((group) =>
          rule.resources.flatMap((resource) =>
            rule.verbs.map((verb) => `${verb} ${resource}.${group} ${rule.resourceNames ?? ''}`),
          ),
        ),
      )
      .filter((one: string) => !one.includes('/finalizers'));
    const { permissions } = checksOf(undefined, { kedaLeaseEverywhere: true });
    const byDefault = checksOf(undefined).permissions;
    expect(byDefault).to.deep.equal(permissions.slice(0, -1));
    const examined = byDefault.map(
      ({ verb, group, resource, name = '' }) => `${verb} ${resource}.${group} ${name}`,
    );
    expect(examined).to.have.members(given);
    expect(permissions.slice(-2)).to.deep.equal([
      {
        ...{ verb: 'get', group: 'coordination.k8s.io', resource: 'leases', name: 'operator.keda.sh' },
        namespace: 'keda',
      },
      {
        ...{ verb: 'list', group: 'coordination.k8s.io', resource: 'leases', name: 'operator.keda.sh' },
        instead: {
          resource: 'leases',
          seen: "the lease of KEDA's operator is read in namespace keda only",
        },
      },
    ]);
    expect(checksOf(undefined, { kedaNamespace: '' }).permissions).to.deep.equal(permissions.slice(0, -2));
  });

  it('checks a cluster without objects, with a name and a title for each check', async () => {
    const { checks } = checksOf(undefined);
    const found: Record<string, readonly string[]> = {};
    for (const check of checks) found[`${check.name}: ${check.title}`] = await reported(check);
    const served = (plural: string) => `ok ${plural}.keda.sh: served as keda.sh/v1alpha1`;
    expect(found).to.deep.equal({
      'scaledobjects-definitions: CustomResourceDefinitions of keda.sh': [
        ...['scaledobjects', 'scaledjobs', 'triggerauthentications', 'clustertriggerauthentications'],
      ].map(served),
      'scaledobjects-keda: Other operators of ScaledObjects': ['ok keda-operator: KEDA is not installed'],
      'scaledobjects-metrics-provider: Provider of external metrics': [
        `note ${EXTERNAL}: not registered: HPAs of ScaledObjects have no values`,
      ],
      'scaledobjects-objects: ScaledObjects and ScaledJobs': ['note objects: none exist'],
      'scaledobjects-triggers: Triggers of ScaledObjects and ScaledJobs': ['note objects: none exist'],
    });
  });

  it('skips the checks if no kind is served, and reports each missing kind if one is', async () => {
    await using without = await startSimulatedApiServer();
    await using partly = await startSimulatedApiServer({ definitions: DEFINITIONS.slice(1, 2) });
    const { checks } = checksOf(undefined);
    const [all] = [server];
    server = without;
    for (const [index, check] of checks.entries())
      expect(await reported(check), check.name).to.deep.equal([
        `note keda.sh: ${index === 0 ? 'no CustomResourceDefinition is installed; event-driven scaling is not in use' : 'not checked: no CustomResourceDefinition is installed'}`,
      ]);
    server = partly;
    const [definitions] = checks;
    const missing = (plural: string) =>
      `failed ${plural}.keda.sh: the API server does not serve keda.sh/v1alpha1`;
    expect(definitions && (await reported(definitions))).to.deep.equal([
      ...[missing('scaledobjects'), 'ok scaledjobs.keda.sh: served as keda.sh/v1alpha1'],
      ...[missing('triggerauthentications'), missing('clustertriggerauthentications')],
    ]);
    server = all;
  });

  it('lists objects once for all checks, of one namespace if configured', async () => {
    const object = (namespace: string, name: string) =>
      created(server, `/apis/keda.sh/v1alpha1/namespaces/${namespace}/scaledobjects`, {
        ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name } },
        spec: { scaleTargetRef: { name: 'gone' }, triggers: [{ type: 'cron', metadata: {} }] },
      });
    await object('default', 'a');
    await object('kube-system', 'b');
    const examined = async (namespace: string | undefined) => {
      const found = new ExaminedObjects(namespace);
      let lists = 0;
      const check: Check = {
        ...{ name: '', title: '' },
        async run(context) {
          const list = context.list.bind(context);
          context.list = (...given) => {
            lists++;
            return list(...given);
          };
          await found.all(context);
          const { objects } = await found.all(context);
          return objects.map(({ metadata }) => ({ status: 'ok', subject: metadata.name, seen: '' }) as const);
        },
      };
      return [(await reported(check)).join(), lists];
    };
    expect(await examined(undefined)).to.deep.equal(['ok a: ,ok b: ', 2]);
    expect(await examined('kube-system')).to.deep.equal(['ok b: ', 2]);
    const objects = async (namespace: string | undefined) =>
      (await reported(checksOf(namespace).checks[3] as Check)).map((one) => one.split(':')[0]);
    expect(await objects(undefined)).to.deep.equal([
      ...['failed scaledobject default/a', 'failed scaledobject kube-system/b'],
    ]);
    expect(await objects('kube-system')).to.deep.equal(['failed scaledobject kube-system/b']);
  });

  it('recognizes the autoscaler as provider of external metrics by the name or label of its Service', async () => {
    const register = async (...[namespace, name]: [] | [string, string]) => {
      await server.client.delete(`/apis/apiregistration.k8s.io/v1/apiservices/${EXTERNAL}`);
      await created(server, '/apis/apiregistration.k8s.io/v1/apiservices', {
        ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: EXTERNAL } },
        spec: {
          ...{ group: 'external.metrics.k8s.io', version: 'v1beta1', insecureSkipTLSVerify: true },
          ...{
            groupPriorityMinimum: 100,
            versionPriority: 100,
            service: name === undefined ? null : { namespace, name },
          },
        },
      });
      const [found] = await run(metricsProvider);
      return found;
    };
    const service = (name: string, labels: object) =>
      created(server, '/api/v1/namespaces/default/services', {
        ...{
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name, labels },
          spec: { ports: [{ port: 443 }] },
        },
      });
    await service('renamed', { 'app.kubernetes.io/name': 'autoscaler' });
    await service('other', { 'app.kubernetes.io/name': 'adapter' });
    const ok = (at: string) => ({ status: 'ok', subject: EXTERNAL, seen: `served by ${at}` });
    expect(await register('somewhere', 'autoscaler')).to.deep.equal(ok('somewhere/autoscaler'));
    expect(await register('default', 'renamed')).to.deep.equal(ok('default/renamed'));
    const remedy =
      'Run `kubectl delete apiservice v1beta1.external.metrics.k8s.io` and apply the manifests of the autoscaler again. A cluster has one provider of external metrics, and ';
    for (const name of ['other', 'gone'])
      expect(await register('default', name)).to.deep.equal({
        ...{ status: 'failed', subject: EXTERNAL, seen: `served by default/${name}` },
        ...{
          diagnosis: 'scaledobjects-other-provider',
          remedy: `${remedy}default/${name} has no values for HPAs of ScaledObjects.`,
          remedyTemplate: `${remedy}NAMESPACE/NAME has no values for HPAs of ScaledObjects.`,
        },
        title: 'External metrics are served by another provider',
      });
    expect(await register()).to.deep.include({
      ...{ status: 'failed', seen: 'served by kube-system/kube-apiserver' },
    });
    await register('default', 'other');
    const refused = refuseRequests({ code: 403, reason: 'Forbidden' });
    const error = async (resource: string) => {
      server.cluster.apiServer.setFaults(forRequests({ resource }, refused));
      return await run(metricsProvider).then(
        () => 'none',
        ({ message }: Error) => message,
      );
    };
    expect(await error('services')).to.match(/the permission to get services is missing/);
    expect(await error('apiservices')).to.match(
      /the permission to get apiservices.apiregistration.k8s.io is missing/,
    );
  });

  describe('runningKeda', () => {
    const deployment = (name: string, image: string, spec: object = {}) =>
      created(server, PATHS.deployments, {
        ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name } },
        spec: {
          ...{ selector: { matchLabels: { app: name } }, ...spec },
          template: {
            metadata: { labels: { app: name } },
            spec: {
              containers: [
                { name: 'side', image: 'proxy' },
                { name: 'main', image },
              ],
            },
          },
        },
      });
    const check = (kedaNamespace = 'default', kedaLeaseEverywhere = false) =>
      runningKeda(new ExaminedObjects(undefined), { kedaNamespace, kedaLeaseEverywhere });
    const lease = async (spec: object) => {
      const path = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
      await server.client.delete(`${path}/operator.keda.sh`);
      await created(server, path, {
        ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'operator.keda.sh' } },
        spec: { holderIdentity: 'one', leaseDurationSeconds: 15, ...spec },
      });
    };
    const renewed = (agoMs: number) => ({
      renewTime: new Date(server.clock.nowMs() - agoMs).toISOString().replace('Z', '000Z'),
    });

    it("recognizes KEDA's operator by its name or image, from any registry", async () => {
      await deployment('a', 'kedacore/keda');
      await deployment('b', 'registry.example/kedacore/keda@sha256:0', { replicas: 3 });
      await deployment('c', 'kedacore/keda:2.1', { replicas: 0 });
      await deployment('d', 'kedacore/keda-metrics-apiserver:2.1');
      await deployment('e', 'mykedacore/keda:2.1');
      await deployment('f', 'keda');
      const found = await run(check());
      expect(found.map(({ subject, seen }) => `${subject}: ${seen}`)).to.deep.equal([
        'deployment default/a: desired replicas: 1',
        'deployment default/b: desired replicas: 3',
      ]);
      expect(found[1]).to.deep.include({
        ...{ status: 'failed', diagnosis: 'scaledobjects-keda-runs', title: 'KEDA is running as well' },
        remedy:
          'Stop KEDA (`kubectl -n default scale deployment b --replicas=0`), or run the autoscaler with --controllers=*,-scaledobjects. While KEDA runs, the autoscaler does not scale ScaledObjects and ScaledJobs.',
      });
      for (const name of ['a', 'b']) await server.client.delete(`${PATHS.deployments}/${name}`);
      expect(await reported(check())).to.deep.equal(['ok keda-operator: KEDA is scaled to zero']);
      await deployment('keda-operator', 'mirror');
      expect(await reported(check())).to.deep.equal([
        'failed deployment default/keda-operator: desired replicas: 1',
      ]);
    });

    it('reads its lease in one namespace, in all if they count and may be listed, and nowhere if none is configured', async () => {
      await lease(renewed(4400));
      for (const none of [check(''), check('keda')])
        expect(await reported(none)).to.deep.equal(['ok keda-operator: KEDA is not installed']);
      expect(await reported(check('keda', true))).to.have.lengthOf(1);
      const retained = `failed ${LEASE}: held by "one"; it was renewed 4 s ago`;
      expect(await reported(check())).to.deep.equal([retained]);
      const [found] = await run(check());
      expect(found)
        .to.have.property('remedy')
        .that.matches(/`kubectl -n default scale deployment keda-operator --replicas=0`/);
      const fault = (verb: string) =>
        forRequests({ resource: 'leases', verb }, refuseRequests({ code: 403, reason: 'Forbidden' }));
      server.cluster.apiServer.setFaults(fault('list'));
      expect(await reported(check('default'))).to.deep.equal([retained]);
      expect(await reported(check('default', true))).to.deep.equal([retained]);
      expect(await reported(check('keda', true))).to.deep.equal(['ok keda-operator: KEDA is not installed']);
      server.cluster.apiServer.setFaults(fault('list'), fault('get'));
      expect((await reported(check('default')))[0]).to.match(
        /^unchecked lease operator.keda.sh: the permission to get leases is missing/,
      );
      server.cluster.apiServer.setFaults(
        forRequests({ resource: 'leases' }, refuseRequests({ code: 400, reason: 'BadRequest' })),
      );
      expect((await reported(check('default')))[0]).to.match(
        /^unchecked lease operator.keda.sh: .*status 400/,
      );
    });

    it('reports when a lease was renewed, if it has a valid time', async () => {
      await lease({});
      expect(await reported(check())).to.deep.equal([`failed ${LEASE}: held by "one"; it has no renew time`]);
      await lease(renewed(-5000)); // by a clock that is ahead
      expect(await reported(check())).to.deep.equal([
        `failed ${LEASE}: held by "one"; it was renewed 0 s ago`,
      ]);
      await lease(renewed(-60_001)); // no clock can show this
      expect((await reported(check()))[0]).to.match(/^note .*: it has a renew time in the future; an autos/);
      await lease(renewed(600_000));
      expect((await reported(check()))[0]).to.match(/^note .*: it was renewed 600 s ago; an autoscaler that/);
      await lease(renewed(600_001));
      expect(await reported(check())).to.deep.equal(['ok keda-operator: KEDA is not installed']);
    });
  });
});
