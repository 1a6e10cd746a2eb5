import { expect } from 'chai';
import { runToEnd } from '#spec/support/run-to-end.ts';

describe('mutants/main.ts', function () {
  this.timeout(180_000);

  it('counts the changes of a file that its specs notice', async () => {
    const { noticed, all } = await changesNoticed('lib/time/deadline.ts', 'spec/time/deadline.spec.ts');
    expect(all).to.be.above(3);
    expect(noticed).to.be.above(all / 2);
  });

  it('counts none where the specs are about something else', async () => {
    const { noticed, all } = await changesNoticed('lib/time/deadline.ts', 'spec/time/duration.spec.ts');
    expect(all).to.be.above(3);
    expect(noticed).to.equal(0);
  });
});

async function changesNoticed(source: string, spec: string): Promise<{ noticed: number; all: number }> {
  const { stdout, stderr } = await runToEnd('node', ['scripts/mutants/main.ts', source, spec], 170_000);
  const [, noticed, all] = /^(\d+) of (\d+) changes noticed/m.exec(stdout) ?? [];
  expect(all, stdout + stderr).to.not.equal(undefined);
  return { noticed: Number(noticed), all: Number(all) };
}
