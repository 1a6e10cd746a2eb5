import { expect } from 'chai';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { findKubectl, Kubectl } from '#spec/support/kubectl.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { until } from '#spec/support/until.ts';

describe('the real kubectl', () => {
  const clock = new ManualClock();
  let cluster: SimulatedCluster;
  let kubectl: Kubectl;

  before(async () => {
    cluster = await startCluster({ nodes: 2, podsPerNode: 3, namespaces: ['default', 'shop'] }, { clock });
    kubectl = new Kubectl(await findKubectl(), cluster.files.kubeconfig);
  });
  after(() => cluster[Symbol.asyncDispose]());

  const run = async (...args: string[]) => {
    const { stdout, stderr, exitStatus } = await kubectl.run(args);
    expect(exitStatus, `kubectl ${args.join(' ')}: ${stderr}`).to.equal(0);
    return stdout;
  };

  it('prints the version of the server', async () => {
    expect(await run('version')).to.match(/^Server Version: v1\.34\.2$/m);
  });

  it('lists nodes', async () => {
    expect(await run('get', 'nodes')).to.match(/^node-1 +Ready +24h +v1\.34\.2$/m);
  });

  it('prints objects as YAML', async () => {
    expect(await run('get', 'node', 'node-1', '-o', 'yaml')).to.match(
      /^apiVersion: v1\nkind: Node\nmetadata:/m,
    );
  });

  it('lists pods of all namespaces, page by page', async () => {
    const lines = (await run('get', 'pods', '-A', '--chunk-size=2', '--no-headers')).trim().split('\n');
    expect(lines).to.have.length(6);
    for (const line of lines) expect(line).to.match(/^(default|shop) +app-\d-\S+ +1\/1 +Running +0 +\S+$/);
  });

  it('selects by labels and fields', async () => {
    const selectors = ['-l', 'tier in (web),app', '--field-selector', 'spec.nodeName=node-1'];
    expect((await run('get', 'pods', '-A', '-o', 'name', ...selectors)).trim().split('\n')).to.have.length(2);
  });

  it('watches, and ends when the server ends the watch', async () => {
    const watching = kubectl.run(['get', 'pods', '-n', 'shop', '-w', '--no-headers']);
    await until(clock, () => clock.sleeperCount > 0);
    cluster.addPod({ namespace: 'shop', name: 'late', node: 'node-1' });
    await clock.advance(30 * 60_000);
    expect((await watching).stdout).to.match(/^late +1\/1 +Running/m);
  });

  it('finds the served resources', async () => {
    const resources = await run('api-resources');
    expect(resources).to.match(/^pods +po +v1 +true +Pod$/m);
    expect(resources).to.match(/^apiservices +apiregistration\.k8s\.io\/v1 +false +APIService$/m);
  });

  it('sends raw requests', async () => {
    expect(
      JSON.parse(await run('get', '--raw', '/api/v1/nodes?limit=1')).metadata.remainingItemCount,
    ).to.equal(1);
  });

  it('creates, labels and deletes pods', async () => {
    await run('run', 'mine', '--image=x');
    await run('label', 'pod', 'mine', 'colour=blue');
    expect(await run('get', 'pods', '-l', 'colour=blue', '--no-headers')).to.match(/^mine +1\/1 +Running/);
    await run('delete', 'pod', 'mine', '--wait=false');
    expect(cluster.store.get('pods', 'default', 'mine')).to.equal(undefined);
  });

  it('creates objects from arguments, which it sends as protobuf', async () => {
    await run('create', 'namespace', 'made');
    const made = (...args: string[]) => run('-n', 'made', ...args);
    await made(
      'create',
      'deployment',
      'web',
      '--image=nginx',
      '--replicas=2',
      '--port=80',
      '--',
      'sleep',
      '9',
    );
    expect(cluster.store.get('deployments.apps', 'made', 'web')).to.have.nested.include({
      'metadata.labels.app': 'web',
      'spec.replicas': 2,
      'spec.selector.matchLabels.app': 'web',
      'spec.template.spec.containers[0].image': 'nginx',
      'spec.template.spec.containers[0].command[1]': '9',
      'spec.template.spec.containers[0].ports[0].containerPort': 80,
    });
    await made('autoscale', 'deployment', 'web', '--min=1', '--max=5');
    expect(await made('get', 'hpa', '--no-headers')).to.match(
      /^web +Deployment\/web +cpu: <unknown>\/80% +1 +5 +0 /,
    );
    await made('create', 'configmap', 'settings', '--from-literal=a=b');
    await made('create', 'secret', 'generic', 'password', '--from-literal=a=b');
    await made('create', 'serviceaccount', 'robot');
    expect(await made('get', 'configmap', 'settings', '-o', 'jsonpath={.data}')).to.equal('{"a":"b"}');
    expect(await made('get', 'secret', 'password', '-o', 'jsonpath={.data}')).to.equal('{"a":"Yg=="}');
    await run('create', 'clusterrole', 'reader', '--verb=get', '--non-resource-url=/debug/*');
    await run(
      'create',
      'clusterrolebinding',
      'reader',
      '--clusterrole=reader',
      '--serviceaccount=made:robot',
    );
    expect(
      cluster.store.get('clusterroles.rbac.authorization.k8s.io', undefined, 'reader')?.rules,
    ).to.deep.equal([{ verbs: ['get'], nonResourceURLs: ['/debug/*'] }]);
  });

  it('creates objects from a file', async () => {
    await run('create', '-n', 'shop', '-f', 'examples/tune-an-hpa/web.yaml');
    expect(await run('get', '-n', 'shop', 'hpa', '--no-headers')).to.match(
      /^web +Deployment\/web +cpu: <unknown>/,
    );
  });

  it('prints whether a user may send a request', async () => {
    expect(await run('auth', 'can-i', 'delete', 'pods')).to.equal('yes\n');
    expect(await run('auth', 'can-i', 'get', '/debug/nodes')).to.equal('yes\n');
    expect(await run('auth', 'whoami')).to.match(/kubernetes-admin/);
  });
});
