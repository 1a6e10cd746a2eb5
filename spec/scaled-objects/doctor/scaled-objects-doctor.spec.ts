import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { forRequests, refuseRequests } from '#simulator/api-server/faults.ts';
import { readDefinition } from '#spec/support/definition-file.ts';
import { created, examineAutoscaler } from '#spec/support/examined-autoscaler.ts';
import { PATHS } from '#spec/support/scaled-objects-cluster.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const CRDS = ['scaled-object', 'scaled-job', 'trigger-authentication', 'cluster-trigger-authentication'];
const FLAGS = ['--controllers=scaledobjects', '--allowed-hosts=127.0.0.0/8', '--leader-elect=false'];
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/keda/leases';
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';

describe('scaledObjectsDoctor', () => {
  it('queries each trigger once and reports its value', async () => {
    await using server = await startServer();
    await using source = await startSource(12);
    await created(server, PATHS.secrets, {
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } },
      data: { key: Buffer.from('good').toString('base64') },
    });
    await created(server, PATHS.authentications, {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'TriggerAuthentication', metadata: { name: 'auth' } },
      spec: { secretTargetRef: [{ parameter: 'apiKey', name: 's', key: 'key' }] },
    });
    const metadata = { ...source.metadata, authModes: 'apiKey', method: 'query' };
    await deployment(server, 'web', { resources: { requests: { cpu: '100m' } } });
    await scaledObject(server, 'web', [
      { type: 'metrics-api', metadata, authenticationRef: { name: 'auth' } },
      { type: 'cpu', metricType: 'Utilization', metadata: { value: '50' } },
    ]);
    await created(server, PATHS.scaledJobs, {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledJob', metadata: { name: 'work' } },
      spec: {
        jobTargetRef: { template: { spec: { containers: [{ name: 'main', image: 'worker' }] } } },
        triggers: [{ type: 'metrics-api', metadata: source.metadata }],
      },
    });
    const { findings, isSound } = await examineAutoscaler(server, FLAGS);
    expect(isSound, JSON.stringify(findings)).to.equal(true);
    const seen = 's0-metric-api-value is 12, its target 5: the trigger is active';
    expect(findings).to.deep.include.members([
      { status: 'ok', subject: 'scaledobject default/web trigger 0 (metrics-api)', seen },
      {
        ...{ status: 'note', subject: 'scaledobject default/web trigger 1 (cpu)' },
        seen: 'read by the HPA controller',
      },
      { status: 'ok', subject: 'scaledjob default/work trigger 0 (metrics-api)', seen },
      { status: 'ok', subject: 'keda-operator', seen: 'KEDA is not installed' },
      { status: 'ok', subject: 'scaledobjects.keda.sh', seen: 'served as keda.sh/v1alpha1' },
    ]);
    expect(source.requested).to.have.members(['/?api_key=good', '/']);
  });

  it('reports unusable triggers and sources that do not respond', async () => {
    await using server = await startServer();
    await using source = await startSource(undefined);
    await deployment(server, 'broken');
    await scaledObject(server, 'broken', [
      { type: 'kafka', metadata: {} },
      { type: 'metrics-api', metadata: source.metadata, authenticationRef: { name: 'nobody' } },
      { type: 'metrics-api', metadata: source.metadata },
    ]);
    const { diagnoses, findings } = await examineAutoscaler(server, FLAGS);
    expect(diagnoses).to.deep.equal([
      ...[
        'scaledobjects-trigger-unusable',
        'scaledobjects-trigger-unusable',
        'scaledobjects-trigger-failing',
      ],
    ]);
    const observed = findings
      .filter(({ subject }) => subject.includes('default/broken'))
      .map((one) => one.seen);
    expect(observed[0]).to.match(/^no scaler found for type: kafka; supported types are /);
    expect(observed[1]).to.equal('TriggerAuthentication "nobody" not found');
    expect(observed[2]).to.match(/^value at 127\.0\.0\.1:\d+\/: error requesting metrics endpoint/);
  });

  it('names a missing Secret of an authentication even if the source responds', async () => {
    await using server = await startServer();
    await using source = await startSource(3);
    await deployment(server, 'web');
    await created(server, '/apis/keda.sh/v1alpha1/namespaces/default/triggerauthentications', {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'TriggerAuthentication', metadata: { name: 'ta' } },
      spec: { secretTargetRef: [{ parameter: 'password', name: 'missing-secret', key: 'password' }] },
    });
    await scaledObject(server, 'web', [
      { type: 'metrics-api', metadata: source.metadata, authenticationRef: { name: 'ta' } },
    ]);
    const { diagnoses, findings } = await examineAutoscaler(server, FLAGS);
    expect(diagnoses).to.include('scaledobjects-parameter-missing');
    const found = findings.filter(({ subject }) => subject.includes('trigger 0'));
    expect(found.map(({ status }) => status)).to.deep.equal(['failed', 'ok']);
    expect(found[0]?.seen).to.equal('TriggerAuthentication "ta": Secret default/missing-secret not found');
  });

  it('prints the remedy of the cause for which a trigger has no value', async () => {
    await using server = await startServer();
    await using source = await startSource(12);
    await deployment(server, 'web');
    await scaledObject(server, 'web', [
      { type: 'metrics-api', metadata: { ...source.metadata, valueLocation: 'wating' } },
      { type: 'metrics-api', metadata: { ...source.metadata, url: 'http://127.0.0.1:1/' } },
      { type: 'metrics-api', metadata: { ...source.metadata, url: 'http://10.0.0.1:1/' } },
    ]);
    const flags = FLAGS.map((flag) => flag.replace('127.0.0.0/8', '127.0.0.1'));
    const { findings } = await examineAutoscaler(server, flags);
    const remedies = findings.flatMap((one) => (one.status === 'failed' ? [[one.title, one.remedy]] : []));
    const title = 'A trigger cannot read a value from its source';
    const after = ' Until then, default/web is scaled by its fallback, or not at all.';
    const edit = '`kubectl -n default edit scaledobject web`';
    expect(remedies).to.deep.equal([
      [
        title,
        `Fix the name, path or query of the finding with ${edit}: the source responds, but has no such value. Run the query by hand to compare.${after}`,
      ],
      [
        title,
        `Check that the source runs, and that its Service has ready endpoints: no process listens at the address. If the address is wrong, fix it with ${edit}, or in the flag that sets it.${after}`,
      ],
      [
        title,
        `Add the host to --allowed-hosts of the autoscaler. A loopback, link-local or metadata address is only allowed if its address or range is listed.${after}`,
      ],
    ]);
  });

  it('notes settings of a trigger that mean nothing, though it works without them', async () => {
    await using server = await startServer();
    await using source = await startSource(12);
    await deployment(server, 'web');
    const metadata = { ...source.metadata, targetVlaue: '7' };
    await scaledObject(server, 'web', [{ type: 'metrics-api', metadata }]);
    const { findings, isSound } = await examineAutoscaler(server, FLAGS);
    const found = findings.filter(({ subject }) => subject.includes('trigger 0'));
    expect(found.map(({ status }) => status)).to.deep.equal(['note', 'ok']);
    expect(found[0]?.seen).to.equal('metadata key "targetVlaue" has no effect on a trigger of this type');
    expect(isSound).to.equal(true);
  });

  it('takes a cluster without its definitions for one that needs none', async () => {
    await using server = await startSimulatedApiServer();
    await created(server, API_SERVICES, {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1beta1.external.metrics.k8s.io' },
      spec: {
        ...{ group: 'external.metrics.k8s.io', version: 'v1beta1', insecureSkipTLSVerify: true },
        ...{ groupPriorityMinimum: 100, versionPriority: 100 },
        service: { name: 'prometheus-adapter', namespace: 'monitoring' },
      },
    });
    const account = '--server-account=system:serviceaccount:kube-system:nobody';
    const { findings } = await examineAutoscaler(server, [...FLAGS, account]);
    expect(findings).to.deep.include({
      ...{ status: 'note', subject: 'keda.sh' },
      seen: 'no CustomResourceDefinition is installed; event-driven scaling is not in use',
    });
    const failed = findings.filter(({ status }) => status === 'failed').map(({ subject }) => subject);
    expect(
      failed.filter((subject) => !/tokenreviews|subjectaccessreviews|configmaps|events/.test(subject)),
    ).to.deep.equal([]);
  });

  it('finds a KEDA that runs, the provider of external metrics that is not ours, and missing definitions', async () => {
    await using server = await startSimulatedApiServer({ definitions: definitions().slice(0, 1) });
    const labels = { app: 'keda' };
    const containers = [{ name: 'keda', image: 'ghcr.io/kedacore/keda:2.20.2' }];
    const deployment = (name: string, replicas: number) => ({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name } },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    });
    await created(server, PATHS.deployments, deployment('some-operator', 1));
    await created(server, PATHS.deployments, deployment('keda-operator', 0));
    await created(server, API_SERVICES, {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1beta1.external.metrics.k8s.io' },
      spec: {
        ...{ group: 'external.metrics.k8s.io', version: 'v1beta1', insecureSkipTLSVerify: true },
        ...{ groupPriorityMinimum: 100, versionPriority: 100 },
        service: { name: 'keda-metrics-apiserver', namespace: 'keda' },
      },
    });
    const { findings } = await examineAutoscaler(server, FLAGS);
    const failed = findings.filter(({ status }) => status === 'failed');
    expect(failed.filter(({ subject }) => subject.includes('keda.sh'))).to.have.lengthOf(3);
    expect(failed.map(({ subject, seen }) => `${subject}: ${seen}`)).to.include.members([
      'deployment default/some-operator: desired replicas: 1',
      'v1beta1.external.metrics.k8s.io: served by keda/keda-metrics-apiserver',
    ]);
  });

  it('classifies the lease of an operator as the controller does at its first read', async () => {
    await using server = await startServer();
    const lease = async (spec: {
      renewedAgoMs: number;
      holderIdentity?: string;
      leaseDurationSeconds?: number;
    }) => {
      const { renewedAgoMs, ...rest } = spec;
      const renewTime = new Date(server.clock.nowMs() - renewedAgoMs).toISOString().replace('Z', '000Z');
      await server.client.patch(`${LEASES}/operator.keda.sh`, 'merge', { spec: { renewTime, ...rest } });
      const { checks } = await examineAutoscaler(server, FLAGS);
      const [found] = checks.filter(({ name }) => name === 'scaledobjects-keda');
      return found?.findings.map(({ status, subject, seen }) => `${status} ${subject}: ${seen}`);
    };
    await server.client.post('/api/v1/namespaces', {
      ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'keda' } },
    });
    await created(server, LEASES, {
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'operator.keda.sh' } },
      spec: { holderIdentity: 'keda-operator-1', leaseDurationSeconds: 15 },
    });
    const retained = (renewed: string) =>
      `failed lease keda/operator.keda.sh: held by "keda-operator-1"; it was renewed ${renewed}`;
    const starting = 'an autoscaler that starts now waits before it scales any object';
    expect(await lease({ renewedAgoMs: 4000 })).to.deep.equal([retained('4 s ago')]);
    expect(await lease({ renewedAgoMs: 60_000 })).to.deep.equal([retained('60 s ago')]);
    expect(await lease({ renewedAgoMs: 61_000 })).to.deep.equal([
      `note lease keda/operator.keda.sh: it was renewed 61 s ago; ${starting}`,
    ]);
    expect(await lease({ renewedAgoMs: 270_000, leaseDurationSeconds: 90 })).to.deep.equal([
      `note lease keda/operator.keda.sh: it was renewed 270 s ago; ${starting}`,
    ]);
    expect(await lease({ renewedAgoMs: 601_000 })).to.deep.equal(['ok keda-operator: KEDA is not installed']);
    expect(await lease({ renewedAgoMs: 5000, holderIdentity: '' })).to.deep.equal([
      'note lease keda/operator.keda.sh: it was renewed 5 s ago and is released; no object is scaled until another replica could have acquired it',
    ]);
  });

  it('finds other writers of statuses, and the objects that are not scaled for them', async () => {
    await using server = await startServer();
    await using source = await startSource(1);
    const namespaces = ['default', 'kube-system'];
    for (const namespace of namespaces) {
      const path = PATHS.scaledObjects.replace('/default/', `/${namespace}/`);
      await created(server, path, {
        ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name: 'web' } },
        spec: {
          scaleTargetRef: { name: 'web' },
          triggers: [{ type: 'metrics-api', metadata: source.metadata }],
        },
      });
    }
    const reported = async () => {
      const { findings } = await examineAutoscaler(server, FLAGS);
      const failed = findings.filter(({ subject }) => subject.startsWith('namespace '));
      return failed.map(({ status, subject, seen }) => `${status} ${subject}: ${seen}`);
    };
    const write = async (namespace: string, manager: string) => {
      const path = `${PATHS.scaledObjects.replace('/default/', `/${namespace}/`)}/web/status?fieldManager=${manager}`;
      const lastActiveTime = new Date(server.clock.nowMs()).toISOString();
      expect((await server.client.patch(path, 'merge', { status: { lastActiveTime } })).status).to.equal(200);
    };
    await write('default', 'autoscaler-scaledobject');
    expect(await reported()).to.deep.equal([]);
    await server.clock.advance(1000);
    await write('default', 'keda');
    const foundIn = (namespace: string) =>
      `failed namespace ${namespace}: "keda" writes the status of ScaledObject ${namespace}/web; the autoscaler does not scale objects of this namespace`;
    expect(await reported()).to.deep.equal([foundIn('default')]);
    await write('kube-system', 'keda');
    expect(await reported()).to.deep.equal(namespaces.map(foundIn));
    await server.clock.advance(90_000);
    expect(await reported()).to.deep.equal([]);
  });

  it('reports unusable objects with the messages of their conditions', async () => {
    await using server = await startServer();
    await using source = await startSource(1);
    const triggers = [{ type: 'metrics-api', metadata: source.metadata }];
    const cpu = { type: 'cpu', metricType: 'Utilization', metadata: { value: '50' } };
    await deployment(server, 'web');
    await deployment(server, 'other');
    await scaledObject(server, 'web', triggers);
    await server.clock.advance(2000);
    await scaledObject(server, 'younger', triggers, { scaleTargetRef: { name: 'web' } });
    await scaledObject(server, 'nowhere', triggers);
    await scaledObject(server, 'still', triggers, {
      scaleTargetRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'c' },
    });
    await scaledObject(server, 'other', [cpu], { minReplicaCount: 1 });
    const advanced = { scalingModifiers: { formula: 'a +', target: '2' } };
    await scaledObject(server, 'formula', [{ ...triggers[0], name: 'a' }], {
      ...{ advanced, scaleTargetRef: { name: 'third' } },
    });
    await deployment(server, 'third');
    await scaledObject(server, 'paused', triggers, {}, { 'autoscaling.keda.sh/paused': 'true' });
    const many = { 'autoscaling.keda.sh/paused-replicas': 'many' };
    await scaledObject(server, 'paused-wrongly', triggers, {}, many);
    await deployment(server, 'taken');
    const horizontalPodAutoscalerConfig = { name: 'foreign' };
    await scaledObject(server, 'taken', triggers, { advanced: { horizontalPodAutoscalerConfig } });
    await created(server, PATHS.hpas, {
      ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'foreign' } },
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'else' } },
    });
    const job = (name: string, image: string, more: object) =>
      created(server, PATHS.scaledJobs, {
        ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledJob', metadata: { name } },
        spec: {
          jobTargetRef: { template: { spec: { containers: [{ name: 'main', image }] } } },
          triggers: [{ ...triggers[0], ...more }],
        },
      });
    await job('work', 'worker', {});
    await job('typed', 'worker', { metricType: 'Value' });
    const { checks, isSound } = await examineAutoscaler(server, FLAGS);
    const [found] = checks.filter(({ name }) => name === 'scaledobjects-objects');
    const reported =
      found?.findings.map(({ status, subject, seen }) => `${status} ${subject}: ${seen}`) ?? [];
    const target = "ScaledObject doesn't have correct scaleTargetRef specification";
    const specified = "ScaledObject doesn't have correct triggers specification";
    expect(reported).to.include.members([
      `failed scaledobject default/younger: ${target}: the workload 'web' of type 'apps/v1.Deployment' is already managed by the ScaledObject 'web'`,
      `failed scaledobject default/other: ${specified}: the scaledobject has a cpu trigger but the container main doesn't have the cpu request defined`,
      "failed scaledobject default/taken: failed to ensure HPA is correctly created for ScaledObject: the HPA 'foreign' already scales another workload, 'else' of type 'apps/v1.Deployment'",
      'failed scaledobject default/paused-wrongly: failed to scale target to paused replica count: value "many" of annotation autoscaling.keda.sh/paused-replicas is not a number of replicas',
      'failed scaledjob default/typed: Cannot set metricType in ScaledJob triggers',
    ]);
    const rest = reported.filter((one) => !/younger|other|taken|typed|wrongly/.test(one)).sort();
    expect(rest).to.have.lengthOf(3);
    expect(rest[0]).to.match(new RegExp(`^failed scaledobject default/formula: ${specified}: `));
    expect(rest[1]).to.match(
      new RegExp(`^failed scaledobject default/nowhere: ${target}: .*"nowhere" not found`),
    );
    expect(rest[2]).to.match(
      new RegExp(`^failed scaledobject default/still: ${target}: .*no scale subresource`),
    );
    expect(isSound).to.equal(false);
    expect((await server.client.get(PATHS.jobs)).body.items).to.deep.equal([]);
  });

  it('reports valid targets and settings, and checks that need a missing permission', async () => {
    await using server = await startServer();
    await using source = await startSource(1);
    await deployment(server, 'web');
    await scaledObject(server, 'web', [{ type: 'metric-api', metadata: source.metadata }]);
    const found = async () => {
      const { checks } = await examineAutoscaler(server, FLAGS);
      const [check] = checks.filter(({ name }) => name === 'scaledobjects-objects');
      return check?.findings.map(({ status, subject, seen }) => `${status} ${subject}: ${seen}`);
    };
    expect(await found()).to.deep.equal(['ok objects: targets and settings of 1 object are valid']);
    const refused = refuseRequests({ code: 403, reason: 'Forbidden' });
    server.cluster.apiServer.setFaults(forRequests({ resource: 'deployments' }, refused));
    const [unseen] = (await found()) ?? [];
    expect(unseen).to.match(
      /^unchecked scaledobject default\/web: the permission to get deployments.apps is missing/,
    );
  });

  it('finds KEDA with permission for its Deployment only, or for its lease only', async () => {
    await using server = await startServer();
    const labels = { app: 'keda' };
    await created(server, PATHS.deployments, {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'keda-operator' } },
      spec: {
        ...{ replicas: 1, selector: { matchLabels: labels } },
        template: { metadata: { labels }, spec: { containers: [{ name: 'keda', image: 'keda' }] } },
      },
    });
    await server.client.post('/api/v1/namespaces', {
      ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'keda' } },
    });
    await created(server, LEASES, {
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'operator.keda.sh' } },
      spec: {
        ...{ holderIdentity: 'keda-operator-1', leaseDurationSeconds: 15 },
        renewTime: new Date(server.clock.nowMs()).toISOString().replace('Z', '000Z'),
      },
    });
    const findingsWithout = async (resource: string) => {
      const refused = refuseRequests({ code: 403, reason: 'Forbidden' });
      server.cluster.apiServer.setFaults(forRequests({ resource }, refused));
      const { checks, isSound } = await examineAutoscaler(server, FLAGS);
      expect(isSound).to.equal(false);
      const [found] = checks.filter(({ name }) => name === 'scaledobjects-keda');
      return found?.findings.map(({ status, subject }) => `${status} ${subject}`);
    };
    expect(await findingsWithout('leases')).to.deep.equal([
      'failed deployment default/keda-operator',
      'unchecked lease operator.keda.sh',
    ]);
    expect(await findingsWithout('deployments')).to.deep.equal([
      'unchecked keda-operator',
      'failed lease keda/operator.keda.sh',
    ]);
  });
});

async function startServer(): Promise<SimulatedApiServer> {
  return await startSimulatedApiServer({ definitions: definitions() });
}

function definitions() {
  return CRDS.map((name) => readDefinition(`keda/${name}`));
}

async function scaledObject(
  server: SimulatedApiServer,
  name: string,
  triggers: readonly object[],
  spec: object = {},
  annotations: object = {},
): Promise<void> {
  await created(server, PATHS.scaledObjects, {
    ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name, annotations } },
    spec: { scaleTargetRef: { name }, triggers, ...spec },
  });
}

async function deployment(server: SimulatedApiServer, name: string, container: object = {}): Promise<void> {
  const labels = { app: name };
  await created(server, PATHS.deployments, {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name } },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'main', image: 'nginx', ...container }] },
      },
    },
  });
}

/** @param value `undefined` for a server that fails */
async function startSource(value: number | undefined) {
  const requested: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    requested.push(url);
    response.writeHead(value === undefined ? 500 : 200).end(JSON.stringify({ value }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    requested,
    metadata: { url: `http://127.0.0.1:${port}/`, valueLocation: 'value', targetValue: '5' },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
