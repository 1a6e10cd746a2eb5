import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { RequestPacer } from '#lib/apiserver/serving/request-pacer.ts';

/** So many begin in one time slice. */
const MOST = 16;

describe('RequestPacer', () => {
  it('begins a few requests at once, and the others as others have had the event loop', async () => {
    const { take, begun } = setUp();
    for (let count = 0; count < 40; count++) take(`a${count}`);
    expect(begun).to.have.length(MOST);
    await nextSlice();
    expect(begun).to.have.length(2 * MOST);
    await nextSlice();
    expect(begun).to.deep.equal(Array.from({ length: 40 }, (_, index) => `a${index}`));
  });

  it('begins those that wait though nothing else happens', async () => {
    // A process ends once nothing that it waits for can happen any more.
    const program = `
      import { RequestPacer } from '#lib/apiserver/serving/request-pacer.ts';
      const pacer = new RequestPacer();
      let begun = 0;
      const request = { address: 'a', begin: () => begun++, isOver: () => false };
      for (let count = 0; count < 40; count++) pacer.take({ ...request });
      process.on('exit', () => console.log(begun));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    expect(stdout.trim()).to.equal('40');
  });

  it('begins at once again when none waits', async () => {
    const { take, begun } = setUp();
    for (let slice = 1; slice <= 3; slice++) {
      for (let count = 0; count < MOST; count++) take('a');
      expect(begun).to.have.length(slice * MOST);
      await nextSlice();
    }
  });

  it('has addresses begin alternately', async () => {
    const { take, begun } = setUp();
    for (let count = 0; count < 100; count++) take(`a${count}`);
    take('b0');
    take('c0');
    await nextSlice();
    expect(begun.slice(MOST, MOST + 4)).to.deep.equal(['a16', 'b0', 'c0', 'a17']);
  });

  it('never begins what has been taken back meanwhile, however much that is', async () => {
    const { take, begun, over } = setUp();
    for (let count = 0; count < 5_000; count++) take(`a${count}`);
    take('z');
    for (let count = 0; count < 5_000; count++) over.add(`a${count}`);
    await nextSlice();
    expect(begun.slice(MOST)).to.deep.equal(['z']);
  });

  it('keeps the order of one address when a request comes while others wait', async () => {
    const { take, begun } = setUp();
    for (let count = 0; count < MOST + 2; count++) take(`a${count}`);
    await nextSlice();
    take('a99');
    expect(begun.slice(-3)).to.deep.equal(['a16', 'a17', 'a99']);
  });
});

/** Requests are named by their address, which is one letter, and a number. */
function setUp() {
  const pacer = new RequestPacer();
  const begun: string[] = [];
  const over = new Set<string>();
  const take = (name: string) =>
    pacer.take({ address: name.charAt(0), begin: () => begun.push(name), isOver: () => over.has(name) });
  return { take, begun, over };
}

function nextSlice(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
