import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { CertificateAuthority } from '#simulator/access/certificate-authority.ts';
import { requestHttp1 } from '#spec/support/api-request.ts';
import { elapseUntil } from '#spec/support/elapse-until.ts';
import { eventually } from '#spec/support/eventually.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';
import { RequestFlow } from '#spec/support/request-flow.ts';
import { type RunningServer, runServer } from '#spec/support/running-server.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

const PATH = '/apis/metrics.k8s.io/v1beta1/nodes';
const CONFIG_MAP = ['configmaps', 'kube-system', 'extension-apiserver-authentication'] as const;

/** Above the intervals of reloading files and credentials, and the lifetime of cached decisions. */
const SETTLING_MS = 11_000;
/** Far below the timeout of an access review. */
const STEP_MS = 1_500;

describe('credential rotation loses no request', () => {
  it('when the serving certificate is replaced', async () => {
    await using directory = await TemporaryDirectory.create();
    const authority = new TestAuthority('servers');
    const write = async (commonName: string) => {
      const { cert, key } = authority.leaf({ subject: { commonName }, usages: ['serverAuth'] });
      return [
        `--tls-private-key-file=${await directory.write('tls.key', key)}`,
        `--tls-cert-file=${await directory.write('tls.crt', cert)}`,
      ];
    };
    await using server = await runServer({ nodes: 1 }, await write('old'));
    await using flow = administratorsFlow(server);
    await write('new');
    await elapseUntil(server.clock, 1_000, async () => (await nameShown(portOf(server))) === 'new');
    await moreOf(flow);
    expect(flow.losses).to.deep.equal([]);
  });

  it('when the client CA of the ConfigMap is replaced, with a period of overlap', async () => {
    await using server = await runServer({ nodes: 1 });
    const { clientCa, admin } = server.cluster.pki;
    const next = new TestAuthority('next');
    let shown = { cert: admin.certificatePem, key: admin.privateKeyPem };
    await using early = new RequestFlow(() => ({ port: portOf(server), path: PATH, ...shown }));
    configure(server, clientCa.certificatePem + next.pem);
    const renewed = next.leaf({ subject: { commonName: 'root', organizations: ['system:masters'] } });
    await eventually(async () => (await statusOf(server, renewed)) === 200);
    shown = renewed;
    await moreOf(early);
    await early[Symbol.asyncDispose](); // its connections use the old certificate
    await using late = new RequestFlow(() => ({ port: portOf(server), path: PATH, ...renewed }));
    configure(server, next.pem);
    const old = { cert: admin.certificatePem, key: admin.privateKeyPem };
    await eventually(async () => (await statusOf(server, old)) === 401);
    await moreOf(late);
    expect([...early.losses, ...late.losses]).to.deep.equal([]);
  });

  it('and no scrape, when the CA of the kubelets is replaced, with a period of overlap', async () => {
    await using directory = await TemporaryDirectory.create();
    const next = new CertificateAuthority('kubelets-next');
    await using server = await runServerWith(directory, { nodes: 2, podsPerNode: 1 });
    await using flow = administratorsFlow(server);
    await server.clock.advance(400);
    await server.scraped(2);
    const { pki } = server.cluster;
    await directory.write('kubelets.crt', pki.kubeletCa.certificatePem + next.certificatePem);
    Object.assign(pki, { kubeletCa: next });
    await server.cluster.addNode('renewed');
    await advance(server, flow, 12_500);
    await server.scraped(5);
    await directory.write('kubelets.crt', next.certificatePem);
    await server.cluster.addNode('later');
    await advance(server, flow, 60_000);
    await server.scraped(9);
    await moreOf(flow);
    expect(flow.losses).to.deep.equal([]);
    expect(failedScrapes(await server.get('/metrics'))).to.equal(0);
  });

  it('and no scrape, when the token is replaced', async () => {
    await using directory = await TemporaryDirectory.create();
    await using server = await runServerWith(directory, { nodes: 1, podsPerNode: 1 });
    const { cluster } = server;
    const viewer = cluster.pki.clientCa.issue({ subject: { commonName: 'viewer' }, usages: ['clientAuth'] });
    cluster.rbac.grant({
      name: 'viewers',
      role: 'viewers',
      users: ['viewer'],
      rules: [{ verbs: ['list'], apiGroups: ['metrics.k8s.io'], resources: ['nodes'] }],
    });
    await using flow = new RequestFlow(() => ({
      port: portOf(server),
      path: PATH,
      cert: viewer.certificatePem,
      key: viewer.privateKeyPem,
    }));
    await server.clock.advance(400);
    await server.scraped(1);
    const holder = cluster.authenticator.reviewToken(cluster.metricsServerToken);
    cluster.authenticator.setToken('renewed', { ...holder, username: holder?.username ?? '' });
    await directory.write('token', 'renewed');
    await advance(server, flow, SETTLING_MS);
    cluster.authenticator.revokeToken(cluster.metricsServerToken);
    await advance(server, flow, 12_000);
    await server.scraped(2);
    await moreOf(flow); // cached decisions have expired, and were requested with the new token
    expect(flow.losses).to.deep.equal([]);
    expect(failedScrapes(await server.get('/metrics'))).to.equal(0);
  });
});

/** A server with its token and the CA of the kubelets in files of a directory. */
async function runServerWith(
  directory: TemporaryDirectory,
  scenario: Parameters<typeof runServer>[0],
): Promise<RunningServer> {
  const prepare = async ({ files, metricsServerToken }: RunningServer['cluster']) => {
    const kubeconfig = JSON.parse(await readFile(files.metricsServerKubeconfig, 'utf8'));
    kubeconfig.users[0].user = { tokenFile: await directory.write('token', metricsServerToken) };
    const kubeletCa = await directory.write('kubelets.crt', await readFile(files.kubeletCa, 'utf8'));
    return [
      `--kubeconfig=${await directory.write('kubeconfig', JSON.stringify(kubeconfig))}`,
      `--kubelet-certificate-authority=${kubeletCa}`,
    ];
  };
  return await runServer(scenario, prepare);
}

function administratorsFlow(server: RunningServer): RequestFlow {
  const { certificatePem: cert, privateKeyPem: key } = server.cluster.pki.admin;
  return new RequestFlow(() => ({ port: portOf(server), path: PATH, cert, key }));
}

/** Waits for more requests on each connection of the flow. */
async function moreOf(flow: RequestFlow, responses = 30): Promise<void> {
  const before = flow.count;
  await eventually(() => flow.count >= before + responses || flow.losses.length > 0);
}

/** Advances in steps that leave time for responses; otherwise, requests over real sockets would seem to take the whole time. */
async function advance(server: RunningServer, flow: RequestFlow, durationMs: number): Promise<void> {
  for (let passedMs = 0; passedMs < durationMs; passedMs += STEP_MS) {
    await server.clock.advance(Math.min(STEP_MS, durationMs - passedMs));
    await moreOf(flow, 6);
  }
}

function configure({ cluster }: RunningServer, clientCa: string): void {
  const current = cluster.store.get(...CONFIG_MAP);
  if (!current) throw new Error('the config map is gone');
  const { resourceVersion: _, ...metadata } = current.metadata;
  const data = { ...(current.data as object), 'client-ca-file': clientCa };
  cluster.store.update('configmaps', { ...current, metadata, data });
}

function portOf({ origin }: RunningServer): number {
  return Number(new URL(origin).port);
}

async function statusOf(server: RunningServer, shown: { readonly cert: string; readonly key: string }) {
  return (await requestHttp1({ port: portOf(server), path: PATH, ...shown })).status;
}

function failedScrapes({ body }: { readonly body: string }): number {
  return Number(/^metrics_server_kubelet_request_total\{success="false"\} (\d+)$/m.exec(body)?.[1] ?? 0);
}

async function nameShown(port: number): Promise<unknown> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return CN;
}
