import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { type AutoscalerSystem, startAutoscalerSystem } from '#spec/support/autoscaler-system.ts';
import { eventually } from '#spec/support/eventually.ts';
import { freePort } from '#spec/support/free-port.ts';
import { type HttpsResponse, requestHttps } from '#spec/support/https-request.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { externalMetric, hpaObject } from '#spec/support/scaled-hpas.ts';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

const PATH = '/apis/external.metrics.k8s.io/v1beta1/namespaces/default/depth';

describe('two replicas of the autoscaler', () => {
  it('serve the same, and one continues without a gap when the leader is killed', async () => {
    await using system = await start();
    const values = async (port: number) => {
      const { status, body } = await system.get(port, PATH);
      const { items = [] }: { readonly items?: readonly Item[] } = JSON.parse(body);
      return { status, values: items.map(({ value }) => value), items };
    };
    const served = { status: 200, values: ['11'] };
    for (const port of system.ports) {
      await eventually(() => system.isReady(port));
      await eventually(async () => (await values(port)).values.length === 1);
    }
    for (const port of system.ports) expect(await values(port)).to.deep.include(served);

    const [leads, watches] = system.ports;
    const requestsBefore = system.prometheus.requests.length;
    system.leader.kill('SIGKILL');
    expect(await system.leader.ended).to.deep.equal({ status: null, signal: 'SIGKILL' });
    const killedAtMs = Date.now();
    let responses = 0;
    await eventually(async () => {
      const { items, ...response } = await values(watches);
      expect(response).to.deep.equal(served);
      responses++;
      const [{ timestamp = '' } = {}] = items;
      return Date.parse(timestamp) > killedAtMs + 3_000; // this replica collects
    });
    expect(responses).to.be.greaterThan(10);
    expect(system.prometheus.requests.length).to.be.greaterThan(requestsBefore + 2);
    expect(await values(leads).catch(({ code }) => code)).to.equal('ECONNREFUSED');
  });
});

interface Item {
  readonly value: string;
  readonly timestamp: string;
}

/** A simulated cluster and two autoscalers in separate processes, the first of which leads. */
async function start() {
  await using starting = new AsyncDisposableStack();
  const prometheus = starting.use(
    await LoopbackServer.start((_, response) => {
      const data = { resultType: 'scalar', result: [Date.now() / 1000, '11'] };
      response.end(JSON.stringify({ status: 'success', data }));
    }),
  );
  const directory = starting.use(await TemporaryDirectory.create());
  const ports = [await freePort(), await freePort()] as const;
  const flagsOf = (port: number) => [
    `--secure-port=${port}`,
    '--controllers=cronhpa',
    `--prometheus-server=${prometheus.url.href}`,
    '--default-collection-interval=1s',
  ];
  let kubeconfig = '';
  const system: AutoscalerSystem = starting.use(
    await startAutoscalerSystem({
      flags: flagsOf(ports[0]),
      prepare: async (path) => {
        kubeconfig = path;
      },
    }),
  );
  const second = [
    ...['lib/main.ts', 'autoscaler', `--kubeconfig=${kubeconfig}`, '--bind-address=127.0.0.1'],
    ...[`--cert-dir=${join(directory.path, 'serving')}`, ...flagsOf(ports[1])],
  ];
  starting.use(new SpawnedProgram(process.execPath, second, { name: 'the second autoscaler' }));
  const hpa = hpaObject({ metrics: [externalMetric('depth', { type: 'prometheus', query: 'depth' })] });
  const applied = await system.kubectl.run([
    ...['apply', '--filename', await directory.write('hpa.json', JSON.stringify(hpa))],
  ]);
  expect(applied.exitStatus, applied.stderr).to.equal(0);
  const { users } = parse(await readFile(kubeconfig, 'utf8'));
  const pem = (name: string) => Buffer.from(users[0].user[`${name}-data`], 'base64').toString();
  const credentials = { cert: pem('client-certificate'), key: pem('client-key'), rejectUnauthorized: false };
  const get = async (port: number, path: string): Promise<HttpsResponse> =>
    await requestHttps(`https://127.0.0.1:${port}${path}`, credentials);
  const owned = starting.move();
  return {
    ...{ ports, prometheus, get, leader: system.autoscaler },
    isReady: (port: number) =>
      get(port, '/readyz').then(
        ({ status }) => status === 200,
        () => false,
      ),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
