import { expect } from 'chai';
import { metricsApiGroup } from '#lib/resource-metrics/api/metrics-api-group.ts';
import { systemClock } from '#lib/time/clock.ts';
import { startCluster } from '#simulator/simulated-cluster.ts';
import { freePort } from '#spec/support/free-port.ts';
import { findKubectl, Kubectl } from '#spec/support/kubectl.ts';
import { FakeMetricsSource, liveNode, livePod, nodeUsage, podUsage } from '#spec/support/metrics-source.ts';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

const MIB = 1024 * 1024;
const VERSION = 'metrics.k8s.io/v1beta1';

// Objects and fixed metrics of the simulated cluster, requested through its aggregator.
describe('kubectl', () => {
  const stack = new AsyncDisposableStack();
  const source = new FakeMetricsSource();
  let kubectl: Kubectl;
  let kubeconfig: string;

  before(async () => {
    const port = await freePort();
    const cluster = stack.use(
      await startCluster(
        {
          nodes: 2,
          podsPerNode: 0,
          nodeOverrides: { 'node-1': { labels: { disk: 'ssd' } } },
          namespaces: ['shop', 'kube-system'],
          pods: [
            {
              name: 'cart',
              namespace: 'shop',
              node: 'node-1',
              containers: [{ name: 'app' }, { name: 'proxy' }],
            },
            { name: 'till', namespace: 'shop', node: 'node-2', containers: [{ name: 'app' }] },
            { name: 'dns', namespace: 'kube-system', node: 'node-2', containers: [{ name: 'dns' }] },
          ],
        },
        { metricsServer: { host: '127.0.0.1', port } },
      ),
    );
    const containerOf = (name: string, cpuMillicores: number, mebibytes: number) => ({
      name,
      cpuNanocores: cpuMillicores * 1e6,
      memoryBytes: mebibytes * MIB,
    });
    source.serve(
      nodeUsage('node-1', { cpuNanocores: 1.5e9, memoryBytes: 2048 * MIB }),
      nodeUsage('node-2', { cpuNanocores: 0.25e9, memoryBytes: 512 * MIB }),
      podUsage('shop', 'cart', { containers: [containerOf('app', 120, 64), containerOf('proxy', 5, 16)] }),
      podUsage('shop', 'till', { containers: [containerOf('app', 300, 32)] }),
      podUsage('kube-system', 'dns', { containers: [containerOf('dns', 7, 128)] }),
    );
    source.liveNodes.set('node-1', liveNode('node-1', { labels: { disk: 'ssd' } }));
    source.livePods.set('shop/cart', livePod('shop', 'cart', { labels: { app: 'cart' } }));
    stack.use(
      await startTestApiServer({
        groups: [metricsApiGroup(source, { watch: { clock: systemClock, random: Math.random } })],
        port,
      }),
    );
    kubeconfig = cluster.files.kubeconfig;
    kubectl = new Kubectl(await findKubectl(), kubeconfig);
  });

  after(() => stack.disposeAsync());

  async function run(...args: readonly string[]): Promise<string> {
    const { stdout, stderr, exitStatus } = await kubectl.run(args);
    expect(exitStatus, `kubectl ${args.join(' ')}: ${stderr}`).to.equal(0);
    return stdout;
  }

  /** Printed cells, by line. */
  async function table(...args: readonly string[]): Promise<readonly (readonly string[])[]> {
    const lines = (await run(...args)).trimEnd().split('\n');
    return lines.map((line) =>
      line
        .trim()
        .split(/ {2,}| (?=<)|\t/)
        .flatMap((cell) => cell.split(/\s+/)),
    );
  }

  it('discovers the resources', async () => {
    expect(await table('api-resources', '--api-group=metrics.k8s.io', '--no-headers')).to.deep.equal([
      ['nodes', VERSION, 'false', 'NodeMetrics'],
      ['pods', VERSION, 'true', 'PodMetrics'],
    ]);
  });

  it('gets raw paths', async () => {
    const list = JSON.parse(await run('get', '--raw', `/apis/${VERSION}/nodes`));
    expect(list).to.include({ kind: 'NodeMetricsList', apiVersion: VERSION });
  });

  it('explains both kinds, and their fields', async () => {
    for (const kind of ['nodemetrics', 'podmetrics']) {
      const explanation = await run('explain', kind, '--recursive');
      expect(explanation)
        .to.include('GROUP:      metrics.k8s.io')
        .and.include('timestamp')
        .and.include('-required-');
    }
    expect(await run('explain', 'podmetrics.containers.usage')).to.include('map[string]Quantity');
    expect(await run('explain', 'pods', `--api-version=${VERSION}`)).to.include('KIND:       PodMetrics');
  });

  it('prints objects as tables, wide, as JSON, as YAML and by name', async () => {
    expect(await table('get', 'nodemetrics')).to.deep.equal([
      ['NAME', 'CPU', 'MEMORY', 'WINDOW'],
      ['node-1', '1500m', '2Gi', '15s'],
      ['node-2', '250m', '512Mi', '15s'],
    ]);
    expect(await table('get', 'nodemetrics', '-o', 'wide')).to.deep.equal(await table('get', 'nodemetrics'));
    expect(await run('get', 'podmetrics', '-n', 'shop', '-o', 'name')).to.equal(
      'podmetrics.metrics.k8s.io/cart\npodmetrics.metrics.k8s.io/till\n',
    );
    const node = JSON.parse(await run('get', 'nodemetrics', 'node-1', '-o', 'json'));
    expect(node).to.deep.include({ kind: 'NodeMetrics', usage: { cpu: '1500m', memory: '2Gi' } });
    expect(await run('get', 'podmetrics', 'cart', '-n', 'shop', '-o', 'yaml')).to.include('    cpu: 120m\n');
  });

  it('selects, sorts and pages', async () => {
    const names = (...args: readonly string[]) => run('get', 'podmetrics', '-A', '-o', 'name', ...args);
    const [cart, till, dns] = ['cart', 'till', 'dns'].map((name) => `podmetrics.metrics.k8s.io/${name}\n`);
    expect(await names('-l', 'app=cart')).to.equal(cart);
    expect(await names('-l', 'app notin (cart)')).to.equal(`${dns}${till}`);
    expect(await names('--field-selector', 'metadata.namespace=shop')).to.equal(`${cart}${till}`);
    expect(await names('--chunk-size=1')).to.equal(`${dns}${cart}${till}`);
    expect(await names('--sort-by=.metadata.name')).to.equal(`${cart}${dns}${till}`);
  });

  it('prints the usage of nodes by kubectl top', async () => {
    expect(await table('top', 'node', '--no-headers', '--sort-by=cpu')).to.have.deep.nested.property(
      '[0]',
      (await table('top', 'node', 'node-1', '--no-headers'))[0],
    );
    const [header, ...rows] = await table('top', 'node', '--show-capacity', '-l', 'disk=ssd');
    expect(header?.slice(0, 2)).to.deep.equal(['NAME', 'CPU(cores)']);
    expect(rows.map((row) => [row[0], row[1], row[3]])).to.deep.equal([['node-1', '1500m', '2048Mi']]);
  });

  it('shows the top of the pods, their sums and their containers', async () => {
    expect(await table('top', 'pod', '-A', '--sort-by=memory')).to.deep.equal([
      ['NAMESPACE', 'NAME', 'CPU(cores)', 'MEMORY(bytes)'],
      ['kube-system', 'dns', '7m', '128Mi'],
      ['shop', 'cart', '125m', '80Mi'],
      ['shop', 'till', '300m', '32Mi'],
    ]);
    expect(
      await table('top', 'pod', '-n', 'shop', '--containers', '--no-headers', '-l', 'app=cart'),
    ).to.deep.equal([
      ['cart', 'app', '120m', '64Mi'],
      ['cart', 'proxy', '5m', '16Mi'],
    ]);
    expect((await table('top', 'pod', '-n', 'shop', '--sum')).at(-1)).to.deep.equal(['425m', '112Mi']);
    expect(
      await table('top', 'pod', '-A', '--no-headers', '--field-selector', 'metadata.name=till'),
    ).to.deep.equal([['shop', 'till', '300m', '32Mi']]);
  });

  it('watches: each pod once, then its changes', async () => {
    const args = ['--kubeconfig', kubeconfig, 'get', 'podmetrics', '-A', '--no-headers', '--watch'];
    await using watching = new SpawnedProgram(await findKubectl(), args, { name: 'kubectl get --watch' });
    await watching.line(/till/, 30_000);
    const { current } = source;
    const containers = [{ name: 'app', cpuNanocores: 1e9, memoryBytes: MIB }];
    const shop = new Map(current.pods.get('shop')).set('till', podUsage('shop', 'till', { containers }));
    const pods = new Map(current.pods).set('shop', shop);
    source.current = { ...current, sequence: current.sequence + 1, pods };
    await watching.line(/till +1 /, 30_000);
    expect(watching.output.map((line) => line.split(/ +/).slice(1, 3))).to.deep.equal([
      ['dns', '7m'],
      ['cart', '125m'],
      ['till', '300m'],
      ['till', '1'],
    ]);
  });
});
