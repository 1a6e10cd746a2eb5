import { expect } from 'chai';
import { requestHttps } from '#spec/support/https-request.ts';
import { serverContainer } from '#spec/support/manifest-objects.ts';
import { needControllers } from '../control-plane/need-binaries.ts';
import { RealCluster } from './real-cluster.ts';
import { REFERENCE_IMAGE, REFERENCE_MANIFESTS } from './reference-manifests.ts';

const IMAGE = 'registry.example/metrics-server:v0.1.0';
const DEPLOYMENT = 'deployment/metrics-server';
const IN_ITS_NAMESPACE = '--namespace=kube-system';

// The steps follow docs/tasks/migrate-from-metrics-server.md and build on each other.
describe('a cluster with metrics-server, on a real API server', function () {
  this.timeout(300_000);
  this.bail(true);

  let cluster: RealCluster;
  let manifests: string;

  before(async function () {
    cluster = await RealCluster.start(await needControllers(this));
    await cluster.run('create', 'deployment', 'web', '--image=registry.example/web');
    cluster.pods.setWork('web', { cpuMillicores: 40, memoryBytes: 24 * 2 ** 20 });
    manifests = await cluster.write('components.json', REFERENCE_MANIFESTS);
    await cluster.run('apply', '-f', manifests);
    await cluster.exposeServer();
  });

  after(() => cluster?.[Symbol.asyncDispose]());

  it('needs only another image, and scrapes /metrics/resource, because the role does not permit the summary', async () => {
    await swapImage();
    const { image, ...container } = serverContainer([await cluster.deployment()]);
    const [expected] = deploymentOf(REFERENCE_MANIFESTS).spec.template.spec.containers;
    expect(image).to.equal(IMAGE);
    expect(container.args).to.deep.equal(expected.args);
    expect(container.securityContext).to.deep.equal(expected.securityContext);
    expect(await requested()).to.deep.equal(['metrics true', 'stats false']);
    expect(await cluster.run('top', 'nodes')).to.include('node-1');
    expect(await cluster.run('top', 'pods')).to.match(/^web-/m);
    expect(cluster.server.output.join('\n')).not.to.include('Ignoring argument');
  });

  it('responds to probes although only /metrics is open, as in the chart of metrics-server', async () => {
    const { args, ...container } = serverContainer([await cluster.deployment()]);
    const open = '--authorization-always-allow-paths=/metrics';
    await cluster.startServer({ ...container, args: [...args, open] });
    const request = async (path: string) => {
      const url = `https://127.0.0.1:${cluster.port}${path}`;
      return (await requestHttps(url, { rejectUnauthorized: false })).status;
    };
    // Probes are anonymous: the role system:public-info-viewer allows /livez and /readyz.
    expect(await request('/livez')).to.equal(200);
    expect(await request('/metrics')).to.equal(200);
    await cluster.until(
      () => request('/readyz'),
      (status) => status === 200,
      60_000,
    );
    expect(await request('/debug/nodes')).to.equal(403);
  });

  it('is rolled back by undoing the rollout', async () => {
    await cluster.run('rollout', 'undo', DEPLOYMENT, IN_ITS_NAMESPACE);
    expect(serverContainer([await cluster.deployment()]).image).to.equal(REFERENCE_IMAGE);
    await swapImage();
  });

  it('accepts the manifests of this server over those of metrics-server, and scrapes summaries from then on', async () => {
    await cluster.run('apply', '-k', 'manifests/overlays/release');
    const { spec } = await cluster.deployment();
    expect(spec.template.spec.volumes).to.deep.equal([{ name: 'tmp', emptyDir: {} }]);
    expect(spec.template.spec.containers).to.have.lengthOf(1);
    expect(spec.template.spec.containers[0].securityContext).to.include({ runAsUser: 65532 });
    expect(await requested()).to.deep.equal(['stats true']);
  });

  it('accepts those of metrics-server over them', async () => {
    await cluster.run('apply', '-f', manifests);
    const { spec } = await cluster.deployment();
    expect(spec.template.spec.volumes).to.deep.equal([{ name: 'tmp-dir', emptyDir: {} }]);
    const container = serverContainer([await cluster.deployment()]);
    expect(container).to.include({ image: REFERENCE_IMAGE });
    expect(container.securityContext).to.include({ runAsUser: 1000 }).and.not.to.have.property('runAsGroup');
    await cluster.run('delete', '-f', manifests);
  });

  async function swapImage(): Promise<void> {
    await cluster.run('set', 'image', DEPLOYMENT, `metrics-server=${IMAGE}`, IN_ITS_NAMESPACE);
  }

  /** Requests of the currently deployed server to kubelets, and whether they were allowed. */
  async function requested(): Promise<readonly string[]> {
    await cluster.stopServer(); // otherwise it may scrape once more with the old settings
    const earlier = cluster.nodes.decisions.length;
    await cluster.startServer(serverContainer([await cluster.deployment()]));
    await cluster.untilServed({ pods: 1 });
    const decisions = cluster.nodes.decisions.slice(earlier);
    return [...new Set(decisions.map(({ subresource, isAllowed }) => `${subresource} ${isAllowed}`))].sort();
  }
});

// biome-ignore lint/suspicious/noExplicitAny: specs go to any depth of any kind
function deploymentOf({ items }: { readonly items: readonly any[] }): any {
  return items.find(({ kind }) => kind === 'Deployment');
}
