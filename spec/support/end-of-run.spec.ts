import { expect } from 'chai';
import { runToEnd } from './run-to-end.ts';
import { TemporaryDirectory } from './temporary-directory.ts';

describe('a run of mocha', () => {
  it('fails if a spec leaves an unhandled rejection', async () => {
    const left =
      "it('leaves it', async () => { Promise.reject(new Error('left')); await new Promise(setImmediate); });";
    const { exitStatus, stdout } = await runSpec(left);
    expect(exitStatus).to.be.above(0);
    expect(stdout).to.include('Uncaught Error: left');
  });

  it('fails on an unhandled rejection after the last spec', async () => {
    const late = "it('leaves it', () => { setTimeout(() => Promise.reject(new Error('late')), 1); });";
    const { exitStatus, stdout, stderr } = await runSpec(late);
    expect(exitStatus).to.be.above(0);
    expect(stdout + stderr).to.include('Error: late');
  });

  it('passes if each rejection is handled', async () => {
    const awaited =
      "it('awaits it', async () => { await Promise.reject(new Error('left')).catch(() => {}); });";
    expect((await runSpec(awaited)).exitStatus).to.equal(0);
  });
});

async function runSpec(text: string) {
  await using folder = await TemporaryDirectory.create();
  return await runToEnd('mocha', [await folder.write('own.spec.mjs', text)], 60_000);
}
