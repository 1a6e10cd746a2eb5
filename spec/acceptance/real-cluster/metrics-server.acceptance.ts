import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Fault } from '#simulator/kubelet/faults.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { serverContainer } from '#spec/support/manifest-objects.ts';
import { needControllers } from '../control-plane/need-binaries.ts';
import { accountOf } from './account.ts';
import { issueToken, type ServerContainer } from './installed-server.ts';
import { RealCluster } from './real-cluster.ts';

const OVERLAY = 'manifests/overlays/release';
const SERVER_USER = 'system:serviceaccount:kube-system:metrics-server';
const METRICS = '/apis/metrics.k8s.io/v1beta1';
const CONFIG_MAP = 'extension-apiserver-authentication';
const MEBIBYTE = 2 ** 20;

// The steps follow the installation and build on each other.
describe('metrics-server, installed on a real API server', function () {
  this.timeout(300_000);
  this.bail(true);

  let cluster: RealCluster;
  let container: ServerContainer;
  let apiServerVersion: string | undefined;
  let origin: string;

  before(async function () {
    const binaries = await needControllers(this);
    origin = binaries.origin;
    cluster = await RealCluster.start(binaries);
    const { gitVersion } = await cluster.controlPlane.client.get<{ gitVersion: string }>('/version');
    apiServerVersion = gitVersion;
    await cluster.run('create', 'deployment', 'web', '--image=registry.example/web');
    await cluster.run('set', 'resources', 'deployment', 'web', '--requests=cpu=100m,memory=64Mi');
    await cluster.nodes.all.at(-1)?.kubelet.setFaults([NO_SUMMARY]);
    cluster.pods.setWork('web', { cpuMillicores: 40, memoryBytes: 24 * MEBIBYTE });
  });

  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
    if (apiServerVersion)
      console.log(accountOf({ apiServerVersion, origin, isConfined: cluster?.isConfined ?? false }));
  });

  it('is applied by kubectl apply -k', async () => {
    await cluster.run('apply', '-k', OVERLAY);
    container = serverContainer([await cluster.deployment()]);
    await cluster.exposeServer();
  });

  it('runs as the user and with the constraints of its manifest', async function () {
    await cluster.startServer(container);
    if (!cluster.isConfined) this.skip();
    const { pid } = cluster.server;
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const field = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1];
    const { runAsUser } = container.securityContext;
    expect(field('Uid')?.split('\t')).to.deep.equal(Array(4).fill(String(runAsUser)));
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb']) expect(field(set), set).to.match(/^0+$/);
    expect(field('NoNewPrivs')).to.equal('1');
    const mounts = await readFile(`/proc/${pid}/mounts`, 'utf8');
    expect(mounts, 'a read-only root').to.match(/^root \/ tmpfs ro,/m);
  });

  it('becomes available behind the aggregator', async () => {
    await cluster.run(
      'wait',
      '--for=condition=Available',
      'apiservice/v1beta1.metrics.k8s.io',
      '--timeout=60s',
    );
  });

  it('shows usage of nodes and pods to kubectl top', async () => {
    await cluster.untilServed({ pods: 1 });
    const nodes = rows(await cluster.run('top', 'nodes', '--no-headers'));
    expect(nodes.map(([name]) => name)).to.have.members(['node-1', 'node-2', 'node-3']);
    const [pod = []] = rows(await cluster.run('top', 'pods', '--no-headers'));
    const [name = '', cpu = '', memory = ''] = pod;
    expect(name).to.match(/^web-/);
    expect(Number.parseInt(cpu, 10)).to.be.within(36, 44);
    expect(memory).to.equal('24Mi');
  });

  it('authenticates tokens and authorizes users by the API server', async () => {
    await cluster.run('create', 'serviceaccount', 'viewer');
    await cluster.run('create', 'serviceaccount', 'stranger');
    await cluster.run(
      'create',
      'rolebinding',
      'viewer',
      '--clusterrole=view',
      '--serviceaccount=default:viewer',
    );
    const request = async (path: string, token?: string) => {
      const credentials = token === undefined ? {} : { token };
      return (
        await requestHttps(`https://127.0.0.1:${cluster.port}${path}`, {
          ...credentials,
          rejectUnauthorized: false,
        })
      ).status;
    };
    const [viewer, stranger] = [
      await issueToken(cluster.controlPlane, 'viewer', 'default'),
      await issueToken(cluster.controlPlane, 'stranger', 'default'),
    ];
    const pods = `${METRICS}/namespaces/default/pods`;
    // The role `view` gets the metrics by aggregation, which a controller performs.
    await cluster.until(
      () => request(pods, viewer),
      (status) => status === 200,
      30_000,
    );
    expect(await request(`${METRICS}/nodes`, viewer)).to.equal(403);
    expect(await request(pods, stranger)).to.equal(403);
    expect(await request(pods, 'nobody has this')).to.equal(401);
    expect(await request(pods)).to.equal(403);
    expect(await request('/livez')).to.equal(200);
  });

  it('serves a user of 500 groups and 500 extra values, behind the aggregator', async () => {
    await cluster.run('create', 'rolebinding', 'many', '--clusterrole=view', '--group=team-499');
    const { server, pki } = cluster.controlPlane;
    const extras = Array.from({ length: 500 }, (_, index) => [`Impersonate-Extra-key-${index}`, 'value']);
    const request = async (groups: number) => {
      const { certificatePem: cert, privateKeyPem: key } = pki.admin;
      const headers: Record<string, string | string[]> = {
        ...Object.fromEntries(extras),
        'Impersonate-User': 'alice',
        'Impersonate-Group': Array.from({ length: groups }, (_, index) => `team-${index}`),
      };
      const url = `${server}${METRICS}/namespaces/default/pods`;
      return (await requestHttps(url, { cert, key, rejectUnauthorized: false, headers })).status;
    };
    await cluster.until(
      () => request(500),
      (status) => status === 200,
      30_000,
    );
    expect(await request(499)).to.equal(403);
  });

  it('scales a Deployment from 1 to 4 and back to 1 by a HorizontalPodAutoscaler', async () => {
    await cluster.run(
      'apply',
      '-f',
      await cluster.write('autoscaler.json', { apiVersion: cluster.controlPlane.hpaVersion, ...AUTOSCALER }),
    );
    const replicas = async () => {
      const { spec, status } = await cluster.controlPlane.client.get<Scaled>(
        '/apis/apps/v1/namespaces/default/deployments/web',
      );
      return { expected: spec.replicas, ready: status.readyReplicas };
    };
    expect(await replicas()).to.deep.equal({ expected: 1, ready: 1 });
    cluster.pods.setWork('web', { cpuMillicores: 200, memoryBytes: 24 * MEBIBYTE });
    await cluster.until(replicas, ({ expected, ready }) => expected === 4 && ready === 4, 180_000);
    cluster.pods.setWork('web', { cpuMillicores: 20, memoryBytes: 24 * MEBIBYTE });
    // The HPA controller does not scale down while one of the metrics, CPU or memory, is unavailable.
    await cluster.until(replicas, ({ expected, ready }) => expected === 1 && ready === 1, 180_000);
  });

  it('is described in the OpenAPI documents of the API server', async () => {
    const described = await cluster.until(
      async () => JSON.parse(await cluster.run('get', '--raw', '/openapi/v2')) as Description,
      ({ paths }) => Object.hasOwn(paths, `${METRICS}/nodes`),
      90_000,
    );
    expect(described.definitions).to.include.keys('io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics');
  });

  it('exits with status 0 after SIGTERM, and its APIService becomes unavailable', async () => {
    cluster.server.kill('SIGTERM');
    expect(await cluster.server.ended).to.deep.equal({ status: 0, signal: null });
    await cluster.run(
      'wait',
      '--for=condition=Available=false',
      'apiservice/v1beta1.metrics.k8s.io',
      '--timeout=60s',
    );
  });

  it('uses every verb of its roles, and needs no other', async () => {
    // Watches are logged when they end, which is when the server ends.
    const requested = (await cluster.controlPlane.auditEvents()).filter(({ user }) => user === SERVER_USER);
    expect(requested.filter(({ status }) => status >= 400)).to.deep.equal([]);
    const decided = cluster.nodes.decisions.filter(({ username }) => username === SERVER_USER);
    expect(decided.filter(({ isAllowed }) => !isAllowed)).to.deep.equal([]);

    const used = new Set([
      ...requested.map(({ verb, resource }) => `${verb} ${resource}`),
      ...decided.map(({ verb, subresource }) => `${verb} nodes/${subresource}`),
    ]);
    const configMaps = requested.filter(({ resource }) => resource === 'configmaps');
    for (const { namespace, name } of configMaps) {
      expect({ namespace, name: name ?? CONFIG_MAP }).to.deep.equal({
        namespace: 'kube-system',
        name: CONFIG_MAP,
      });
    }
    // Kubernetes' own roles grant these: the config map by its name, and reviews.
    const others = [...used].filter((one) => !/ configmaps$|reviews\./.test(one));
    expect(others).to.have.members(await grantsOf('system:metrics-server'));
    expect(used).to.include('create tokenreviews.authentication.k8s.io');
    expect(used).to.include('create subjectaccessreviews.authorization.k8s.io');
  });

  /** Verbs of each resource that a role grants. */
  async function grantsOf(role: string): Promise<readonly string[]> {
    const { rules } = await cluster.controlPlane.client.get<Role>(
      `/apis/rbac.authorization.k8s.io/v1/clusterroles/${role}`,
    );
    return rules.flatMap(({ verbs, resources }) =>
      verbs.flatMap((verb) => resources.map((resource) => `${verb} ${resource}`)),
    );
  }
});

interface Role {
  readonly rules: readonly { readonly verbs: readonly string[]; readonly resources: readonly string[] }[];
}

interface Description {
  readonly paths: object;
  readonly definitions: object;
}

interface Scaled {
  readonly spec: { readonly replicas: number };
  readonly status: { readonly readyReplicas?: number };
}

/** Response of a kubelet without the summary API: 404 for all JSON paths. */
const NO_SUMMARY: Fault = {
  change: (response) =>
    response.headers['Content-Type'] === 'application/json'
      ? { ...response, status: 404, body: Buffer.from('gone') }
      : response,
};

/** The lowest load that scales: half of the pods' requests. */
const AUTOSCALER = {
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    minReplicas: 1,
    maxReplicas: 10,
    metrics: [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
      },
      {
        type: 'Resource',
        resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '64Mi' } },
      },
    ],
  },
};

/** Words of each line of a table. */
function rows(table: string): readonly (readonly string[])[] {
  return table
    .trim()
    .split('\n')
    .map((line) => line.split(/\s+/));
}
