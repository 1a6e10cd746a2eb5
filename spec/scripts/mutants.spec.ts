import { expect } from 'chai';
import { runToEnd } from '#spec/support/run-to-end.ts';

describe('mutants/main.ts', function () {
  this.timeout(180_000);

  it('counts the mutants of a file that its specs detect, in a sample', async () => {
    const reported = await debugOptions('lib/time/duration.ts', 'spec/time/duration.spec.ts', '4');
    const [, noticed, all] =
      /^(\d) of (\d) mutants detected, .*; no spec reaches 0 others$/m.exec(reported) ?? [];
    expect(all, reported).to.equal('4');
    expect(Number(noticed), reported).to.be.above(2);
    const [, reached, share] = /^They are a sample of (\d+)\n(\d+)\.0 % of these/m.exec(reported) ?? [];
    expect(Number(reached), reported).to.be.above(4);
    expect(Number(share), reported).to.equal((Number(noticed) * 100) / 4);
  });

  it('counts none if the specs do not cover the file', async () => {
    const reported = await debugOptions('lib/time/duration.ts', 'spec/time/deadline.spec.ts');
    const [, unreached] =
      /^0 of 0 mutants detected, 0 of .*; no spec reaches (\d+) others\n0\.0 % of these/m.exec(reported) ??
      [];
    expect(Number(unreached), reported).to.be.above(4);
  });
});

async function debugOptions(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await runToEnd('node', ['scripts/mutants/main.ts', ...args], 170_000);
  return stdout + stderr;
}
