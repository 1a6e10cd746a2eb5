import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { ReloadingFiles } from '#lib/kubernetes/access/reloading-files.ts';
import { elapseUntil } from '#spec/support/elapse-until.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

describe('ReloadingFiles', () => {
  it('reads the current contents, and notifies listeners', async () => {
    await using set = await setUp();
    expect(set.files.current).to.equal('1+1');
    const received: string[] = [];
    set.files.onChange((current) => received.push(current));
    await set.write('2', '2');
    await set.tick(() => set.files.current === '2+2');
    expect(received).to.deep.equal(['2+2']);
  });

  it('keeps the last valid version while the files do not match, or are missing', async () => {
    await using set = await setUp();
    await set.write('2', '1');
    await set.tick(() => set.logger.lines.some(({ level }) => level === 'error'));
    expect(set.files.current).to.equal('1+1');
    await rm(set.paths[0]);
    await set.tick(() => true);
    expect(set.files.current).to.equal('1+1');
    await set.write('2', '2');
    await set.tick(() => set.files.current === '2+2');
    expect(set.logger.lines.map(({ level, message }) => [level, message])).to.deep.equal([
      ['error', 'Cannot reload the pair; keeping the previous version'],
      ['info', 'Reloaded the pair'],
    ]);
  });

  it("leaves a listener's failure to that listener", async () => {
    await using set = await setUp();
    const received: string[] = [];
    set.files.onChange(() => {
      throw new Error('not now');
    });
    set.files.onChange((current) => received.push(current));
    await set.write('2', '2');
    await set.tick(() => received.length > 0);
    expect(set.files.current).to.equal('2+2');
    expect(set.logger.lines.map(({ level, message }) => [level, message])).to.deep.equal([
      ['error', 'Listener failed; other listeners continue'],
      ['info', 'Reloaded the pair'],
    ]);
  });

  it('begins with files that can be used', async () => {
    await using directory = await TemporaryDirectory.create();
    const clock = new ManualClock();
    const logger = new RecordingLogger();
    const path = `${directory.path}/none`;
    const failure = await ReloadingFiles.open({
      paths: [path],
      what: 'it',
      read: String,
      clock,
      logger,
    }).then(
      () => undefined,
      (error: Error) => error,
    );
    expect(failure?.message).to.equal(`Cannot use it in ${path}`);
    expect(clock.sleeperCount).to.equal(0);
  });

  it('leaves no timer behind', async () => {
    const set = await setUp();
    await set[Symbol.asyncDispose]();
    expect(set.clock.sleeperCount).to.equal(0);
  });
});

/** Two files that match if they have the same content. */
async function setUp() {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await TemporaryDirectory.create());
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const write = async (first: string, second: string) =>
    [await directory.write('first', first), await directory.write('second', second)] as const;
  const paths = await write('1', '1');
  const read = ([first, second]: readonly string[]) => {
    if (first !== second) throw new Error('they do not belong together');
    return `${first}+${second}`;
  };
  const files = stack.use(await ReloadingFiles.open({ paths, what: 'the pair', read, clock, logger }));
  const owned = stack.move();
  return {
    files,
    paths,
    clock,
    logger,
    write,
    tick: (condition: () => boolean) => elapseUntil(clock, 5_000, condition),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
