import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';

/** In a process of its own: there is no way back. Keeps alive what it makes, so that V8 would have the space grow on and on. */
async function youngMebibytesAfter(statements: string): Promise<number> {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { FittingYoungGeneration, growYoungGenerationTo, limitYoungGeneration } from '#lib/heap-limits.ts';
    limitYoungGeneration();
    ${statements}
    const kept = [];
    for (let round = 0; round < 60; round++) {
      for (let one = 0; one < 2000; one++) kept.push({ one, of: [round] });
      await new Promise((resolve) => setImmediate(resolve));
    }
    console.log(getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space').space_size / 2 ** 20);`;
  // While V8 marks what is old, it has the space grow rather than collect it, which takes longer on a busy machine: it is not to begin.
  const flags = ['--initial-old-space-size=512', '--input-type=module'];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '-e', script]);
  return Number(stdout);
}

describe('growYoungGenerationTo', () => {
  it('has the space of a program that keeps what it makes grow so far and no further', async () => {
    expect(await youngMebibytesAfter('')).to.be.at.most(2);
    expect(await youngMebibytesAfter('growYoungGenerationTo(4 * 2 ** 20);')).to.equal(4);
  });
});

describe('FittingYoungGeneration', () => {
  it('has the space fit the number of nodes, but leaves that of a small cluster as it is', async () => {
    const mebibytesFor = (nodes: number) =>
      youngMebibytesAfter(`new FittingYoungGeneration().fit(${nodes});`);
    expect(await mebibytesFor(200)).to.be.at.most(2);
    expect(await mebibytesFor(400)).to.equal(8);
  });

  it('has it grow on when there are more nodes', async () => {
    const statements = `
      const young = new FittingYoungGeneration();
      const fits = setInterval(() => young.fit(800), 1);
      fits.unref();
      young.fit(300);`;
    expect(await youngMebibytesAfter(statements)).to.equal(16);
  });
});
