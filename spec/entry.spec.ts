import { globSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { parse } from 'acorn';
import { expect } from 'chai';
import { allowProgram } from '#spec/support/requested-programs.ts';
import { runToEnd } from '#spec/support/run-to-end.ts';
import { startSimulatedSystem } from '#spec/support/simulated-system.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';
import { untilServed } from '#spec/support/until-served.ts';

describe('the bundle', () => {
  const { engines, version } = JSON.parse(readFileSync('package.json', 'utf8'));
  let folder: TemporaryDirectory;
  let main: string;

  before(async () => {
    folder = await TemporaryDirectory.create();
    main = join(folder.path, 'dist/main.js');
    const { exitStatus, stderr } = await runToEnd(
      process.execPath,
      ['scripts/build.ts', join(folder.path, 'dist')],
      120_000,
    );
    expect(exitStatus, stderr).to.equal(0);
  });

  after(() => folder?.[Symbol.asyncDispose]());

  it('starts with a file that old versions of Node can parse as a script and as a module', () => {
    const text = readFileSync(main, 'utf8');
    for (const sourceType of ['script', 'module'] as const)
      parse(text, { ecmaVersion: 2020, sourceType, allowHashBang: true });
  });

  it('runs on this version of Node', async () => {
    expect(await runToEnd(process.execPath, [main, '--version'], 60_000)).to.deep.equal({
      ...{ exitStatus: 0, stdout: `v${version}\n`, stderr: '' },
    });
  });

  it('serves metrics of kubelets, found by the API server', async () => {
    await using system = await startSimulatedSystem({
      cluster: ['--nodes', '2', '--pods-per-node', '3'],
      program: [process.execPath, main],
    });
    await untilServed(system, { nodes: 2, pods: 6 }, { timeoutMs: 120_000 });
  }).timeout(180_000);

  it('names the required version of Node on one line, on an older one', async () => {
    expect(engines.node).to.equal('>=24');
    const refused = (old: string) => ({
      ...{ exitStatus: 1, stdout: '', stderr: `needs Node 24 or newer, this is ${old}\n` },
    });
    for (const [program, old] of await oldNodes())
      for (const command of [[], ['autoscaler']])
        expect(await runToEnd(program, [main, ...command, '--version'], 60_000)).to.deep.equal(refused(old));
    // Simulates old versions of Node, since the machine may have none.
    for (const old of ['20.20.2', '8.17.0', '23.11.1']) {
      const versions = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${old}' } });`;
      const preload = await folder.write(`node-${old}.cjs`, versions);
      const run = await runToEnd(process.execPath, ['--require', preload, main, '--version'], 60_000);
      expect(run).to.deep.equal(refused(old));
    }
  });
});

/** Finds unsupported versions of Node on PATH. @returns versions by path */
async function oldNodes(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const path of (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((one) => globSync(join(one, 'node')))) {
    allowProgram(path);
    const { stdout } = await runToEnd(path, ['-p', 'process.versions.node'], 60_000);
    if (/^(?:1[3-9]|2[0-3])\./.test(stdout)) found.set(path, stdout.trim());
  }
  return found;
}
