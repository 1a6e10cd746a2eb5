import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { startCluster } from '#simulator/simulated-cluster.ts';
import { BreakableLink } from '#spec/support/breakable-link.ts';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

/** From the first to the last action, in nanoseconds of the machine's clock. */
interface Term {
  readonly name: string;
  readonly firstNs: bigint;
  lastNs: bigint;
}

describe('LeaderElection between processes', () => {
  let stack: AsyncDisposableStack;
  let kubeconfig: string;
  let folder: TemporaryDirectory;
  const candidates = new Map<string, { program: SpawnedProgram; link: BreakableLink }>();

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    candidates.clear();
    const cluster = stack.use(await startCluster({ nodes: 0 }));
    folder = stack.use(await TemporaryDirectory.create());
    kubeconfig = await readFile(cluster.files.kubeconfig, 'utf8');
    await join('a');
    await acting('a');
    await join('b');
  });

  afterEach(async () => {
    await stack.disposeAsync();
    const inOrder = terms().sort((one, other) => (one.firstNs < other.firstNs ? -1 : 1));
    expect(inOrder.length).to.be.above(1);
    for (const [index, { name, firstNs }] of inOrder.entries()) {
      const before = inOrder[index - 1];
      if (before && before.lastNs >= firstNs) expect.fail(`${name} began while ${before.name} acted`);
    }
  });

  async function join(identity: string): Promise<void> {
    const [, port = ''] = /https:\/\/127\.0\.0\.1:(\d+)/.exec(kubeconfig) ?? [];
    const link = stack.use(await BreakableLink.to(Number(port)));
    const text = kubeconfig.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${link.port}`);
    const path = await folder.write(`${identity}.kubeconfig`, text);
    const program = stack.use(
      new SpawnedProgram(process.execPath, ['spec/support/candidate-program.ts', path, identity], {
        name: identity,
      }),
    );
    candidates.set(identity, { program, link });
  }

  function of(identity: string): { readonly program: SpawnedProgram; readonly link: BreakableLink } {
    return candidates.get(identity) ?? expect.fail(`there is no ${identity}`);
  }

  const countActs = (identity: string) => of(identity).program.output.length;

  /** Waits until a process acts, for the first time or again. */
  async function acting(identity: string): Promise<void> {
    const before = countActs(identity);
    while (countActs(identity) < before + 5) await sleep(20);
  }

  function terms(): Term[] {
    const found = new Map<string, Term>();
    for (const [identity, { program }] of candidates) {
      for (const line of program.output) {
        const [, term, at] = /^acts (\d+) (\d+)$/.exec(line) ?? expect.fail(`${identity}: ${line}`);
        const name = `${identity}'s term ${term}`;
        const lastNs = BigInt(at ?? '');
        const existing = found.get(name);
        if (existing) existing.lastNs = lastNs;
        else found.set(name, { name, firstNs: lastNs, lastNs });
      }
    }
    return [...found.values()];
  }

  it('elects the next leader after the lease of a killed leader has expired', async () => {
    of('a').program.kill('SIGKILL');
    await acting('b');
  });

  it('elects the next leader when the leader shuts down', async () => {
    of('a').program.kill('SIGTERM');
    await acting('b');
  });

  it('stops a leader that was paused, once it continues', async () => {
    const { program } = of('a');
    program.kill('SIGSTOP');
    await acting('b');
    program.kill('SIGCONT');
    const before = countActs('b');
    while (countActs('b') < before + 30) await sleep(20);
    of('b').program.kill('SIGSTOP');
    await acting('a');
    of('b').program.kill('SIGCONT');
    await acting('a');
  });

  it('stops a leader that cannot reach the API server, which becomes a candidate again when it can', async () => {
    const { link } = of('a');
    link.cut();
    await acting('b');
    link.mend();
    of('b').link.cut();
    await acting('a');
  });
});
