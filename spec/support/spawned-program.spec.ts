import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';

describe('SpawnedProgram', () => {
  const shell = (script: string) => new SpawnedProgram('/bin/sh', ['-c', script], { name: 'a shell' });

  it('returns lines of both outputs, early and late', async () => {
    await using program = shell('echo one; echo two >&2; sleep 0.05; echo three');
    expect(await program.line(/three/, 5_000)).to.equal('three');
    expect(await program.line(/two/, 5_000)).to.equal('two');
    expect(program.output).to.include('one');
  });

  it('passes each line to its listener when it is printed', async () => {
    const received: string[] = [];
    const options = { name: 'a shell', onLine: (line: string) => received.push(line) };
    await using program = new SpawnedProgram('/bin/sh', ['-c', 'echo one; echo two; sleep 60'], options);
    await program.line(/two/, 5_000);
    expect(received).to.deep.equal(['one', 'two']);
  });

  it('reports the output of a program that ends before the awaited line', async () => {
    await using program = shell('echo only this; exit 3');
    const failure = await program.line(/that/, 5_000).catch((error: Error) => error.message);
    expect(failure).to.match(/^No line like \/that\/ from a shell before its end.*\nonly this$/s);
    expect(await program.ended).to.deep.equal({ status: 3, signal: null });
  });

  it('stops waiting for a line after the timeout', async () => {
    await using program = shell('sleep 60');
    const failure = await program.line(/x/, 20).catch((error: Error) => error.message);
    expect(failure).to.match(/from a shell in 20 ms/);
  });

  it('names the program that cannot be started', async () => {
    const program = new SpawnedProgram('/nonexistent/program', [], { name: 'nothing' });
    const failure = await program.ended.catch((error: Error) => error.message);
    expect(failure).to.match(/^Cannot start nothing: /);
  });

  it('does not outlive the process that spawned it, even one that is killed', async () => {
    const module = JSON.stringify(new URL('./spawned-program.ts', import.meta.url).href);
    const parentSource = `
      const { SpawnedProgram } = await import(${module});
      const child = new SpawnedProgram('/bin/sh', ['-c', 'echo up; sleep 60'], { name: 'child' });
      await child.line(/up/, 5000);
      console.log('pid', child.pid);`;
    await using parent = new SpawnedProgram(process.execPath, ['--input-type=module', '-e', parentSource], {
      name: 'parent',
    });
    const pid = Number((await parent.line(/^pid \d+$/, 10_000)).slice('pid '.length));
    expect(isAlive(pid)).to.equal(true);
    parent.kill('SIGKILL');
    while (isAlive(pid)) await sleep(10);
  });
});

/** Whether the process runs; a zombie does not. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && !existsSync('/proc/self/stat');
  }
}
