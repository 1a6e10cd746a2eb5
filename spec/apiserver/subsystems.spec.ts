import { expect } from 'chai';
import { type ServedSubsystem, serveSubsystems } from '#lib/apiserver/subsystems.ts';
import { loadClusterAccess } from '#lib/kubernetes/access/load-cluster-access.ts';
import { versionInfo } from '#lib/program.ts';
import { parseOptions } from '#lib/resource-metrics/options.ts';
import { SlicedRegistry } from '#lib/telemetry/sliced-registry.ts';
import { startCluster } from '#simulator/simulated-cluster.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

interface FakeSubsystem extends ServedSubsystem {
  starts: number;
}

function subsystem(name: string, { openPaths }: Pick<ServedSubsystem, 'openPaths'> = {}): FakeSubsystem {
  return {
    starts: 0,
    groups: [
      { name: `${name}.example.org`, versions: [{ version: 'v1', resources: () => [], schemas: {} }] },
    ],
    healthChecks: [{ name: `${name}-synced`, endpoints: ['readyz'], check: () => undefined }],
    endpoints: new Map([
      [
        `/debug/${name}`,
        async (context) => {
          context.body = name;
        },
      ],
    ]),
    ...(openPaths && { openPaths }),
    start() {
      this.starts++;
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

describe('serveSubsystems', () => {
  it('serves what every subsystem has by one server, and starts each once', async () => {
    const subsystems = [subsystem('one'), subsystem('two', { openPaths: ['/debug/two'] })];
    await using stack = new AsyncDisposableStack();
    const clock = new ManualClock(Date.now());
    const logger = new RecordingLogger();
    const cluster = stack.use(await startCluster({ nodes: 0 }, { clock }));
    const commandLine = parseOptions([
      `--kubeconfig=${cluster.files.metricsServerKubeconfig}`,
      `--cert-dir=${cluster.files.directory}`,
      '--bind-address=127.0.0.1',
      '--secure-port=0',
    ]);
    if (commandLine.kind !== 'run') throw new Error('these flags run nothing');
    const { options } = commandLine;
    const access = await loadClusterAccess({ kubeconfig: options.kubeconfig, clock, logger });
    const { address } = stack.use(
      await serveSubsystems(subsystems, options, {
        ...{ access, clock, logger },
        version: versionInfo(process),
        registry: new SlicedRegistry(),
        userAgent: 'spec',
      }),
    );
    const { certificatePem: cert, privateKeyPem: key } = cluster.pki.admin;
    const get = (path: string, client: object = { cert, key }) =>
      requestHttps(`https://127.0.0.1:${address.port}${path}`, { ...client, rejectUnauthorized: false });

    expect(subsystems.map(({ starts }) => starts)).to.deep.equal([1, 1]);
    const { groups } = JSON.parse((await get('/apis')).body);
    expect(groups.map(({ name }: { name: string }) => name)).to.deep.equal([
      'one.example.org',
      'two.example.org',
    ]);
    expect((await get('/readyz?verbose')).body)
      .to.contain('one-synced ok')
      .and.to.contain('two-synced ok');
    expect((await get('/debug/one')).body).to.equal('one');
    expect((await get('/debug/one', {})).status).to.equal(403);
    expect((await get('/debug/two', {})).body).to.equal('two');
  });
});
