import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { readProcessUsage } from '#spec/benchmarks/process-usage.ts';
import { openHttps } from '#spec/support/https-request.ts';
import { findProgram, requireProgram, skip } from '#spec/support/machine-programs.ts';
import { runToEnd } from '#spec/support/run-to-end.ts';
import { type ServerInCluster, startServerInCluster } from '#spec/support/spawned-server-in-cluster.ts';

/** Short, so that a spec that misses the second cycle on a busy machine soon gets a third. */
const OFTEN = ['--metric-resolution=10s', '--kubelet-request-timeout=5s'];
const NODE_METRICS = '/apis/metrics.k8s.io/v1beta1/nodes';
const POD_METRICS = '/apis/metrics.k8s.io/v1beta1/pods';
/** Four times as long as the spec sends requests during it: time for those in progress, on a slow machine. */
const SHUTDOWN_DELAY_MS = 8_000;
const TIMEOUT_MS = 60_000;
/** The second cycle is due 12 s after the first, while the process is stopped; it is late then, and the third is 10 s away. */
const STANDSTILL_MS = 14_000;

/** Runs a command with a disk of one page at `/mnt`, which a private key fills. */
const FULL_DISK = `exec unshare -rm sh -c 'mount -t tmpfs -o size=4k tmpfs /mnt && exec "$@"' sh "$@"`;

const throwing = (statement: string) =>
  `data:text/javascript,setTimeout(()=>{${encodeURIComponent(statement)}},1500)`;

// Each spec needs a whole process, which takes a second to start: they run concurrently.
describe('the process', () => {
  const stack = new AsyncDisposableStack();
  const start = async (...args: Parameters<typeof startServerInCluster>) =>
    stack.use(await startServerInCluster(...args));

  let delayed: ServerInCluster;
  let stopped: ServerInCluster;
  let starved: ServerInCluster;
  let readOnly: ServerInCluster;
  let full: ServerInCluster | undefined;
  let small: ServerInCluster;
  let thrown: ServerInCluster;
  let rejected: ServerInCluster;
  let standstill: Promise<void>;

  before(async () => {
    const few = { nodes: 2, podsPerNode: 2 };
    [delayed, stopped, starved, readOnly, full, small, thrown, rejected] = await Promise.all([
      start(
        { nodes: 2, podsPerNode: 1000 },
        { flags: [...OFTEN, `--shutdown-delay-duration=${SHUTDOWN_DELAY_MS / 1000}s`] },
      ),
      start(few, { flags: OFTEN }),
      start({ nodes: 60, podsPerNode: 1 }, { flags: OFTEN, shell: 'ulimit -n 64' }),
      start(few, { flags: ['--cert-dir=/etc/passwd/certificates'] }), // where even root cannot write
      (await canFillADisk())
        ? start(few, { flags: ['--cert-dir=/mnt/certificates'], shell: FULL_DISK })
        : undefined,
      start({ nodes: 100, podsPerNode: 50 }, { flags: OFTEN, nodeFlags: ['--max-old-space-size=256'] }),
      start(few, { nodeFlags: ['--import', throwing('throw new Error("broken on purpose")')] }),
      start(few, { nodeFlags: ['--import', throwing('Promise.reject(new Error("broken promise"))')] }),
    ]);
    standstill = expectStandstillToPass(stopped);
    standstill.catch(() => {}); // the spec awaits it
  });
  after(() => stack.disposeAsync());

  it('ends at an uncaught exception, with one clear line and status 1', async () => {
    expect(await thrown.server.ended).to.deep.equal({ status: 1, signal: null });
    const last = thrown.server.output.at(-1);
    expect(last).to.match(/^E.*"Exiting because of an internal error" err="broken on purpose"/);
    expect(last).to.include('origin="uncaughtException"');
  });

  it('ends at an unhandled rejection, with one clear line and status 1', async () => {
    expect(await rejected.server.ended).to.deep.equal({ status: 1, signal: null });
    expect(rejected.server.output.at(-1)).to.match(
      /^E.*"Exiting because of an internal error" err="broken promise" origin="unhandledRejection"/,
    );
  });

  it('serves even if it cannot store its certificate', async () => {
    await readOnly.until(async () => (await readOnly.request('/livez')).status === 200);
    await readOnly.server.line(/Cannot store self-signed certificate/, TIMEOUT_MS);
  });

  it('serves even if the disk for its certificate is full', async function () {
    await requireProgram(this, 'unshare');
    if (!full) return skip(this, 'this machine does not allow mount namespaces, so no disk can be filled');
    const { until, request, server } = full;
    await until(async () => (await request('/livez')).status === 200);
    expect(await server.line(/Cannot store self-signed certificate/, TIMEOUT_MS)).to.include(
      'no space left on device',
    );
  });

  it('serves as many nodes as possible when file descriptors run out, and logs the cause', async () => {
    await starved.server.line(/too many open files/, TIMEOUT_MS);
    const served = async () => JSON.parse((await starved.request(NODE_METRICS)).body).items.length as number;
    await starved.until(async () => (await served()) > 20);
    for (let probe = 0; probe < 20; probe++) expect((await starved.request('/livez')).status).to.equal(200);
  });

  it('continues after a standstill with one cycle, in which every kubelet responds', () => standstill);

  it('serves 5,000 pods to all of its clients in a heap of 256 MB', async () => {
    await small.until(() => serves(small, 5000));
    const responses = await Promise.all(Array.from({ length: 20 }, () => small.request(POD_METRICS)));
    for (const { status, body } of responses) {
      expect(status).to.equal(200);
      expect(JSON.parse(body).items).to.have.length(5000);
    }
    expect(readProcessUsage(small.server.pid).residentBytes).to.be.below(512 * 1024 * 1024);
  });

  it('is not ready after SIGTERM, continues to serve, finishes requests in progress, and exits with status 0', async () => {
    await delayed.until(() => serves(delayed, 2000));
    const slow = await openHttps(`https://127.0.0.1:${delayed.port}${POD_METRICS}`, {
      cert: delayed.cluster.pki.admin.certificatePem,
      key: delayed.cluster.pki.admin.privateKeyPem,
      rejectUnauthorized: false,
    });
    slow.pause();
    const startMs = performance.now();
    delayed.server.kill('SIGTERM');
    await delayed.server.line(/Shutting down/, TIMEOUT_MS);
    expect((await delayed.request('/readyz')).status).to.equal(500);
    expect((await delayed.request('/livez')).status).to.equal(200);
    const requestOn = async () => {
      do expect((await delayed.request(NODE_METRICS)).status).to.equal(200);
      while (performance.now() - startMs < SHUTDOWN_DELAY_MS / 4);
    };
    await Promise.all(Array.from({ length: 4 }, requestOn));
    await delayed.until(async () => !(await accepts(delayed.port))); // it drains
    let text = '';
    for await (const chunk of slow.setEncoding('utf8')) text += chunk;
    expect(JSON.parse(text).items).to.have.length(2000);
    expect(await delayed.server.ended).to.deep.equal({ status: 0, signal: null });
    expect(performance.now() - startMs).to.be.at.least(SHUTDOWN_DELAY_MS);
  });
});

async function canFillADisk(): Promise<boolean> {
  if ((await findProgram('unshare')) === undefined) return false;
  const { exitStatus } = await runToEnd('/bin/sh', ['-c', FULL_DISK, 'sh', 'true'], TIMEOUT_MS);
  return exitStatus === 0;
}

/** Whether at least so many pods have metrics. */
async function serves({ request }: ServerInCluster, pods: number): Promise<boolean> {
  return JSON.parse((await request(POD_METRICS)).body).items.length === pods;
}

/** Whether connections to a port of 127.0.0.1 are accepted. */
async function accepts(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Stops a process after both kubelets have responded, and resumes it once the next cycle is overdue. */
async function expectStandstillToPass({ server, request, until }: ServerInCluster): Promise<void> {
  const servesAll = async () => JSON.parse((await request(NODE_METRICS)).body).items.length === 2;
  const failures = () => server.output.filter((line) => line.includes('Cannot scrape'));
  await until(servesAll);
  const [scrapesBefore, failuresBefore] = [await scrapes({ request }), failures()];
  server.kill('SIGSTOP');
  await sleep(STANDSTILL_MS);
  server.kill('SIGCONT');
  await server.line(/Event loop stalled/, TIMEOUT_MS);
  await until(async () => (await scrapes({ request })) > scrapesBefore);
  expect((await scrapes({ request })) - scrapesBefore).to.be.at.most(2); // kubelets
  await until(servesAll);
  expect(failures()).to.deep.equal(failuresBefore);
}

/** Number of scrapes so far. */
async function scrapes({ request }: Pick<ServerInCluster, 'request'>): Promise<number> {
  const { body } = await request('/metrics');
  const counts = body.matchAll(/^metrics_server_kubelet_request_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
