import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';

/** Runs in its own process, since V8 flags cannot be reset. Retains its objects, so that V8 would grow the space without limit. */
async function youngMebibytesAfter(statements: string): Promise<number> {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { FittingYoungGeneration, growYoungGenerationTo, limitYoungGeneration } from '#lib/heap-limits.ts';
    limitYoungGeneration();
    ${statements}
    const retained = [];
    for (let round = 0; round < 60; round++) {
      for (let one = 0; one < 2000; one++) retained.push({ one, of: [round] });
      await new Promise((resolve) => setImmediate(resolve));
    }
    console.log(getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space').space_size / 2 ** 20);`;
  // A large old space avoids a marking phase, in which V8 grows the young generation instead of collecting it.
  const flags = ['--initial-old-space-size=512', '--input-type=module'];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '-e', script]);
  return Number(stdout);
}

describe('growYoungGenerationTo', () => {
  it('lets the young generation grow to the limit', async () => {
    expect(await youngMebibytesAfter('')).to.be.at.most(2);
    expect(await youngMebibytesAfter('growYoungGenerationTo(4 * 2 ** 20);')).to.equal(4);
  });
});

describe('FittingYoungGeneration', () => {
  it('grows the young generation by the number of nodes, but not in a small cluster', async () => {
    const mebibytesFor = (nodes: number) =>
      youngMebibytesAfter(`new FittingYoungGeneration().fit(${nodes});`);
    expect(await mebibytesFor(200)).to.be.at.most(2);
    expect(await mebibytesFor(400)).to.equal(8);
  });

  it('grows again when nodes are added', async () => {
    const statements = `
      const young = new FittingYoungGeneration();
      const fits = setInterval(() => young.fit(800), 1);
      fits.unref();
      young.fit(300);`;
    expect(await youngMebibytesAfter(statements)).to.equal(16);
  });
});
