import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { startAutoscaler } from '#lib/autoscaler/autoscaler.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import { versionInfo } from '#lib/program.ts';
import { forRequests, refuseRequests } from '#simulator/api-server/faults.ts';
import { readDefinition } from '#spec/support/definition-file.ts';
import { eventually } from '#spec/support/eventually.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { PATHS } from '#spec/support/scaled-objects-cluster.ts';
import { startLiveApiServer } from '#spec/support/simulated-api-server.ts';

const CRDS = ['scaled-object', 'scaled-job', 'trigger-authentication', 'cluster-trigger-authentication'];

describe('openScaledObjects, in the autoscaler', () => {
  it('is ready without permission for its kinds, and reports that once', async () => {
    const definitions = CRDS.map((name) => readDefinition(`keda/${name}`));
    await using server = await startLiveApiServer({ definitions });
    const forbidden = refuseRequests({ code: 403, reason: 'Forbidden' });
    server.cluster.apiServer.setFaults(forRequests({ resource: 'scaledobjects' }, forbidden));
    const logger = new RecordingLogger();
    const commandLine = parseAutoscalerOptions([
      ...['--bind-address=127.0.0.1', '--secure-port=0', '--controllers=scaledobjects'],
      `--cert-dir=${join(dirname(server.kubeconfig), 'serving')}`,
    ]);
    if (commandLine.kind !== 'run') throw new Error('it does not run');
    const { clock } = server;
    await using autoscaler = await startAutoscaler(commandLine.options, {
      ...{ access: await server.access(), clock, logger, identity: 'a' },
      version: versionInfo(process),
    });
    const refusals = () =>
      logger.lines.filter(({ message }) => message === 'Waiting for permission to list objects');
    await eventually(() => refusals().length > 0);
    const url = `https://127.0.0.1:${autoscaler.address.port}/readyz`;
    const ready = async () => (await requestHttps(url, { rejectUnauthorized: false })).status;
    await eventually(async () => (await ready()) === 200);
    expect(refusals()).to.have.lengthOf(1);
  });

  it('exports its build at /metrics', async () => {
    await using server = await startLiveApiServer({});
    const commandLine = parseAutoscalerOptions([
      ...['--bind-address=127.0.0.1', '--secure-port=0', '--controllers=scaledobjects'],
      ...['--authorization-always-allow-paths=/metrics'],
      `--cert-dir=${join(dirname(server.kubeconfig), 'serving')}`,
    ]);
    if (commandLine.kind !== 'run') throw new Error('it does not run');
    await using autoscaler = await startAutoscaler(commandLine.options, {
      ...{ access: await server.access(), clock: server.clock, identity: 'a', logger: new RecordingLogger() },
      version: versionInfo({ version: 'v24.1.0', platform: 'linux', arch: 'x64' }),
    });
    const url = `https://127.0.0.1:${autoscaler.address.port}/metrics`;
    const { body } = await requestHttps(url, { rejectUnauthorized: false });
    expect(body).to.match(/^keda_build_info\{.*goversion="nodev24\.1\.0",goos="linux",goarch="amd64"\} 1$/m);
  });

  it('leaves objects to an operator that holds its lease, and manages them after it has expired', async () => {
    const definitions = CRDS.map((name) => readDefinition(`keda/${name}`));
    await using server = await startLiveApiServer({ definitions });
    const create = async (path: string, body: object) => {
      const { status, body: made } = await server.client.post(path, body);
      expect(status, JSON.stringify(made)).to.equal(201);
    };
    await create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'keda' } });
    await create(LEASES, {
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'operator.keda.sh' } },
      spec: { holderIdentity: 'keda', leaseDurationSeconds: 3600, renewTime: microTime(Date.now()) },
    });
    await create(PATHS.deployments, DEPLOYMENT);
    await create(PATHS.scaledObjects, {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name: 'web' } },
      spec: {
        scaleTargetRef: { name: 'web' },
        minReplicaCount: 1,
        triggers: [{ type: 'cpu', metricType: 'Utilization', metadata: { value: '50' } }],
      },
    });
    const logger = new RecordingLogger();
    const commandLine = parseAutoscalerOptions([
      ...['--bind-address=127.0.0.1', '--secure-port=0'], // on by default
      `--cert-dir=${join(dirname(server.kubeconfig), 'serving')}`,
    ]);
    if (commandLine.kind !== 'run') throw new Error('it does not run');
    const start = async () =>
      await startAutoscaler(commandLine.options, {
        ...{ access: await server.access(), clock: server.clock, logger, identity: 'a' },
        version: versionInfo(process),
      });
    await using stack = new AsyncDisposableStack();
    const first = stack.use(await start());
    const isReported = (text: string) => logger.lines.some(({ message }) => message.startsWith(text));
    await eventually(() => isReported('Another operator manages ScaledObjects'));
    const found = async () => (await server.client.get(`${PATHS.scaledObjects}/web`)).body;
    expect(await found()).to.not.have.nested.property('metadata.finalizers');
    await first[Symbol.asyncDispose]();
    const spec = { holderIdentity: '', renewTime: microTime(Date.now() - 700_000) };
    await server.client.patch(`${LEASES}/operator.keda.sh`, 'merge', { spec });
    stack.use(await start()); // an old lease is expired at the first observation
    await eventually(async () => (await found()).status?.hpaName === 'keda-hpa-web');
  });
});

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/keda/leases';
const DEPLOYMENT = {
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu: '100m' } } }],
      },
    },
  },
};

function microTime(atMs: number): string {
  return new Date(atMs).toISOString().replace('Z', '000Z');
}
