import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { runToEnd } from './run-to-end.ts';
import { SpawnedProgram } from './spawned-program.ts';
import { TemporaryDirectory } from './temporary-directory.ts';

const MOCHA = fileURLToPath(import.meta.resolve('mocha/bin/mocha.js'));

describe('requireProgram', () => {
  /** Runs a spec that requires redis-server, with only this file of that name on PATH. */
  async function run(mode: number | undefined, ...environment: readonly string[]) {
    await using machine = await TemporaryDirectory.create();
    if (mode !== undefined) await machine.write('redis-server', '#!/bin/sh\n', { mode });
    const spec = await machine.write(
      'own.spec.mjs',
      `import { requireProgram } from '${import.meta.resolve('./machine-programs.ts')}';
       it('runs', async function () {
         if ((await requireProgram(this, 'redis-server')) !== '${machine.path}/redis-server') throw new Error('where?');
       });`,
    );
    const args = ['-u', 'CI', `PATH=${machine.path}`, ...environment, process.execPath, MOCHA, spec];
    const { exitStatus, stdout } = await runToEnd('env', args, 60_000);
    return { exitStatus, stdout };
  }

  it('finds an installed program', async () => {
    const { exitStatus, stdout } = await run(0o755);
    expect(exitStatus).to.equal(0);
    expect(stdout).to.include('1 passing').and.not.include('SKIPPED');
  });

  it('skips the spec with one line if there is none, and ignores files that are not executable', async () => {
    for (const mode of [undefined, 0o644]) {
      const { exitStatus, stdout } = await run(mode);
      expect(exitStatus).to.equal(0);
      expect(stdout).to.include('0 passing').and.include('1 pending');
      expect(stdout).to.include("SKIPPED: redis-server is missing (Debian's package redis-server)\n");
    }
  });

  it('fails if there is none and CI is set', async () => {
    const { exitStatus, stdout } = await run(undefined, 'CI=true');
    expect(exitStatus).to.equal(1);
    expect(stdout).to.include(
      "Error: Cannot run this spec: redis-server is missing (Debian's package redis-server)",
    );
  });
});

describe('the programs that specs start', () => {
  /** Files that start processes without `runToEnd` or `SpawnedProgram`, and only Node or a script of this checkout. */
  const STARTERS = new Set([
    'spec/acceptance/image/build-image.ts',
    'spec/acceptance/image/image.acceptance.ts',
    'spec/acceptance/image/make-image.spec.ts',
    'spec/apiserver/serving/request-limits.spec.ts',
    'spec/autoscaler/explain-hpa.spec.ts',
    'spec/benchmarks/hpa/cluster-process.ts',
    'spec/benchmarks/load/spawn-load.ts',
    'spec/benchmarks/scaled-objects/queue-cluster-process.ts',
    'spec/heap-limits.spec.ts',
    'spec/main.spec.ts',
    'spec/resource-metrics/scrape/kubelet/kubelet-response.spec.ts',
    'spec/scripts/replay-usage.spec.ts',
    'spec/support/run-to-end.ts',
    'spec/support/spawned-program.ts',
    'spec/support/tool-download.ts',
  ]);

  it('are rejected unless they were requested or are on every machine', async () => {
    const refused = 'Cannot run git-lfs: a machine may lack it, so request it with requireProgram';
    const outcome = await runToEnd('git-lfs', [], 10_000).catch((error: Error) => error.message);
    expect(outcome).to.equal(refused);
    expect(() => new SpawnedProgram('/usr/bin/git-lfs', [], { name: 'git-lfs' })).to.throw('Cannot run');
    expect(await runToEnd(process.execPath, ['--version'], 60_000)).to.include({ exitStatus: 0 });
  });

  it('are started by functions that reject unrequested ones', () => {
    const starters = globSync('spec/**/*.ts').filter((path) =>
      /from '(?:node:)?child_process'/.test(readFileSync(path, 'utf8')),
    );
    expect(starters.filter((path) => !STARTERS.has(path))).to.deep.equal([]);
    expect([...STARTERS].filter((path) => !starters.includes(path))).to.deep.equal([]);
  });
});
