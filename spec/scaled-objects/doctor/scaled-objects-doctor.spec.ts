import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { parse } from 'yaml';
import { concerning } from '#lib/simulator/api-server/faults/api-fault.ts';
import { refuseRequests } from '#lib/simulator/api-server/faults/refuse-requests.ts';
import { created, examineAutoscaler } from '#spec/support/examined-autoscaler.ts';
import { PATHS } from '#spec/support/scaled-objects-cluster.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const CRDS = ['scaled-object', 'scaled-job', 'trigger-authentication', 'cluster-trigger-authentication'];
const FLAGS = ['--controllers=scaledobjects', '--allowed-hosts=127.0.0.0/8', '--leader-elect=false'];
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/keda/leases';
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';

describe('scaledObjectsDoctor', () => {
  it('asks each trigger once, and tells what it said', async () => {
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
    const seen = 's0-metric-api-value is 12, its target 5: it is active';
    expect(findings).to.deep.include.members([
      { status: 'ok', subject: 'scaledobject default/web trigger 0 (metrics-api)', seen },
      {
        ...{ status: 'note', subject: 'scaledobject default/web trigger 1 (cpu)' },
        seen: 'the HPA controller reads it itself',
      },
      { status: 'ok', subject: 'scaledjob default/work trigger 0 (metrics-api)', seen },
      { status: 'ok', subject: 'keda-operator', seen: 'there is no KEDA' },
      { status: 'ok', subject: 'scaledobjects.keda.sh', seen: 'served as keda.sh/v1alpha1' },
    ]);
    expect(source.asked).to.have.members(['/?api_key=good', '/']);
  });

  it('tells which triggers cannot be used, and which sources do not respond', async () => {
    await using server = await startServer();
    await using source = await startSource(undefined);
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
    const seen = findings.filter(({ subject }) => subject.includes('default/broken')).map((one) => one.seen);
    expect(seen[0]).to.match(/^no scaler found for type: kafka; there are /);
    expect(seen[1]).to.equal('TriggerAuthentication "nobody" not found');
    expect(seen[2]).to.match(/^value at 127\.0\.0\.1:\d+\/: error requesting metrics endpoint/);
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
      seen: 'no definition is installed: nothing is scaled by events',
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
      'deployment default/some-operator: it is to have 1 replicas',
      'v1beta1.external.metrics.k8s.io: it is served by keda/keda-metrics-apiserver',
    ]);
  });

  it('finds the lease of an operator that renews it, wherever that runs', async () => {
    await using server = await startServer();
    const renewed = async (agoMs: number) => {
      const renewTime = new Date(server.clock.nowMs() - agoMs).toISOString().replace('Z', '000Z');
      await server.client.patch(`${LEASES}/operator.keda.sh`, 'merge', { spec: { renewTime } });
      return (await examineAutoscaler(server, FLAGS)).findings.filter(({ subject }) => /keda/.test(subject));
    };
    await server.client.post('/api/v1/namespaces', {
      ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'keda' } },
    });
    await created(server, LEASES, {
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'operator.keda.sh' } },
      spec: { holderIdentity: 'keda-operator-1', leaseDurationSeconds: 15 },
    });
    const told = (await renewed(4000)).filter(({ status }) => status === 'failed');
    expect(told.map(({ subject, seen }) => `${subject}: ${seen}`)).to.deep.equal([
      'lease keda/operator.keda.sh: it is held by "keda-operator-1", and was renewed 4 s ago',
    ]);
    expect((await renewed(61_000)).filter(({ status }) => status === 'failed')).to.deep.equal([]);
    await created(server, LEASES.replace('/keda/', '/kube-system/'), {
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'operator.keda.sh' } },
      spec: {
        ...{ holderIdentity: 'keda-operator-2', leaseDurationSeconds: 15 },
        renewTime: new Date(server.clock.nowMs()).toISOString().replace('Z', '000Z'),
      },
    });
    const elsewhere = (await renewed(61_000)).filter(({ status }) => status === 'failed');
    expect(elsewhere.map(({ subject }) => subject)).to.deep.equal(['lease kube-system/operator.keda.sh']);
  });

  it('tells what it finds of a KEDA that runs where it may see its Deployment alone, or its lease alone', async () => {
    await using server = await startServer();
    const labels = { app: 'keda' };
    await created(server, PATHS.deployments, {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'keda-operator' } },
      spec: {
        ...{ replicas: 1, selector: { matchLabels: labels } },
        template: { metadata: { labels }, spec: { containers: [{ name: 'keda', image: 'keda' }] } },
      },
    });
    await created(server, LEASES.replace('/keda/', '/default/'), {
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'operator.keda.sh' } },
      spec: {
        ...{ holderIdentity: 'keda-operator-1', leaseDurationSeconds: 15 },
        renewTime: new Date(server.clock.nowMs()).toISOString().replace('Z', '000Z'),
      },
    });
    const seenWithout = async (resource: string) => {
      const refused = refuseRequests({ code: 403, reason: 'Forbidden' });
      server.cluster.apiServer.setFaults(concerning({ resource }, refused));
      const { checks, isSound } = await examineAutoscaler(server, FLAGS);
      expect(isSound).to.equal(false);
      const [found] = checks.filter(({ name }) => name === 'scaledobjects-keda');
      return found?.findings.map(({ status, subject }) => `${status} ${subject}`);
    };
    expect(await seenWithout('leases')).to.deep.equal([
      'failed deployment default/keda-operator',
      'unchecked lease operator.keda.sh',
    ]);
    expect(await seenWithout('deployments')).to.deep.equal([
      'unchecked keda-operator',
      'failed lease default/operator.keda.sh',
    ]);
  });
});

async function startServer(): Promise<SimulatedApiServer> {
  return await startSimulatedApiServer({ definitions: definitions() });
}

function definitions() {
  return CRDS.map((name) => parse(readFileSync(`manifests/crds/keda/${name}.yaml`, 'utf8')));
}

async function scaledObject(
  server: SimulatedApiServer,
  name: string,
  triggers: readonly object[],
): Promise<void> {
  await created(server, PATHS.scaledObjects, {
    ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name } },
    spec: { scaleTargetRef: { name }, triggers },
  });
}

/** @param value `undefined` for a server that fails */
async function startSource(value: number | undefined) {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    response.writeHead(value === undefined ? 500 : 200).end(JSON.stringify({ value }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    metadata: { url: `http://127.0.0.1:${port}/`, valueLocation: 'value', targetValue: '5' },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
