import { expect } from 'chai';
import {
  type Controller,
  DONE,
  KeyFailures,
  mapKeys,
  type ReconcileResult,
  type RunControllerOptions,
  runController,
  type Watched,
} from '#lib/control/controller.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

describe('runController', () => {
  let clock: ManualClock;
  let logger: RecordingLogger;
  let ending: AbortController;
  let source: KeySource;
  let running: Promise<void> | undefined;

  beforeEach(() => {
    clock = new ManualClock();
    logger = new RecordingLogger();
    ending = new AbortController();
    source = new KeySource();
    running = undefined;
  });

  afterEach(async () => {
    ending.abort(new Error('the spec is over'));
    await running;
    expect(clock.sleeperCount).to.equal(0);
    expect(source.listeners.size).to.equal(0);
  });

  function run(
    reconcile: Controller['reconcile'],
    options: Partial<RunControllerOptions> = {},
    watches: readonly Watched[] = [source],
  ): void {
    const { signal } = ending;
    running = runController({ name: 'spec', watches, reconcile }, { clock, logger, signal, ...options });
  }

  const reported = () => logger.lines.map(({ level, message, fields }) => [level, message, fields]);

  it('lets other work run between reconciles that send no request', async () => {
    let nowMs = 0;
    const slow = Object.assign(Object.create(clock), {
      monotonicMs: () => nowMs,
      startTimer: () => new DisposableStack(),
    });
    let [turns, count] = [0, 0];
    for (let index = 0; index < 50; index++) source.keys.push(`key-${index}`);
    const countTurn = () => {
      turns++;
      if (count < 50) setImmediate(countTurn);
    };
    run(
      async () => {
        nowMs += 3;
        count++;
        return DONE;
      },
      { clock: slow },
    );
    source.becomeSynced();
    countTurn();
    while (count < 50) await new Promise((resolve) => setImmediate(resolve));
    expect(turns).to.be.at.least(49);
  });

  it('reconciles existing objects once all are cached, and then changed ones', async () => {
    source.keys.push('a', 'b');
    const reconciled: string[] = [];
    run(async (key) => {
      reconciled.push(key);
      return DONE;
    });
    await clock.advance(60_000);
    expect(reconciled).to.deep.equal([]);
    source.becomeSynced();
    await clock.advance(0);
    expect(reconciled).to.deep.equal(['a', 'b']);
    source.change('b');
    await clock.advance(0);
    expect(reconciled).to.deep.equal(['a', 'b', 'b']);
    expect(reported()).to.deep.equal([]);
  });

  it('reconciles as many keys at once as it has workers, and none twice at once', async () => {
    source.keys.push('a', 'b', 'c');
    source.becomeSynced();
    const open = new Map<string, PromiseWithResolvers<ReconcileResult>>();
    run(
      (key) => {
        expect(open.has(key), key).to.equal(false);
        const work = Promise.withResolvers<ReconcileResult>();
        open.set(key, work);
        return work.promise;
      },
      { workers: 2 },
    );
    await clock.advance(0);
    expect([...open.keys()]).to.deep.equal(['a', 'b']);
    source.change('a');
    end('b');
    await clock.advance(0);
    expect([...open.keys()]).to.deep.equal(['a', 'c']);
    end('a');
    await clock.advance(0);
    expect([...open.keys()]).to.deep.equal(['c', 'a']);
    for (const key of ['c', 'a']) end(key);

    function end(key: string): void {
      open.get(key)?.resolve(DONE);
      open.delete(key);
    }
  });

  it('reconciles a key again after the requested delay', async () => {
    source.keys.push('a');
    source.becomeSynced();
    const atMs: number[] = [];
    run(async () => {
      atMs.push(clock.monotonicMs());
      return atMs.length < 3 ? { requeueAfterMs: 5000 } : DONE;
    });
    await clock.advance(60_000);
    expect(atMs).to.deep.equal([0, 5000, 10_000]);
  });

  it('treats rejections and thrown errors as failures: retries the key, and logs once', async () => {
    source.keys.push('a');
    source.becomeSynced();
    const atMs: number[] = [];
    run((): Promise<ReconcileResult> => {
      atMs.push(clock.monotonicMs());
      if (atMs.length === 3) throw new Error('thrown at once');
      return atMs.length < 6 ? Promise.reject(new Error('refused')) : Promise.resolve(DONE);
    });
    await clock.advance(60_000);
    expect(atMs).to.deep.equal([0, 5, 15, 35, 75, 155]);
    const fields = { controller: 'spec', key: 'a' };
    const message = 'Cannot reconcile object; retrying';
    expect(reported()).to.deep.equal([
      ['error', message, { ...fields, err: 'refused' }],
      ['error', message, { ...fields, err: 'thrown at once' }],
      ['error', message, { ...fields, err: 'refused' }],
      ['info', 'Reconciled object again', fields],
    ]);
    source.change('a');
    await clock.advance(0);
    expect(atMs).to.have.length(7);
  });

  it('begins with the shortest delay again after a success', async () => {
    source.keys.push('a');
    source.becomeSynced();
    const outcomes = ['fail', 'fail', 'succeed', 'fail', 'succeed'];
    const atMs: number[] = [];
    run(async () => {
      atMs.push(clock.monotonicMs());
      if (outcomes[atMs.length - 1] === 'fail') throw new Error('refused');
      return DONE;
    });
    await clock.advance(1000);
    source.change('a');
    await clock.advance(1000);
    expect(atMs).to.deep.equal([0, 5, 15, 1000, 1005]);
  });

  it('fails a reconcile that stops at its deadline', async () => {
    source.keys.push('a');
    source.becomeSynced();
    const atMs: number[] = [];
    run(
      async (_, signal) => {
        atMs.push(clock.monotonicMs());
        await clock.sleep(atMs.length === 1 ? 3_600_000 : 0, { signal });
        return DONE;
      },
      { deadlineMs: 2000 },
    );
    await clock.advance(10_000);
    expect(atMs).to.deep.equal([0, 2005]);
    expect(logger.lines[0]?.fields.err).to.equal('not reconciled within 2s');
  });

  it('continues with other keys while one ignores its deadline, and never reconciles that one twice at once', async () => {
    source.keys.push('stuck', 'other');
    source.becomeSynced();
    const reconciled: string[] = [];
    const stuck = Promise.withResolvers<ReconcileResult>();
    run(
      (key) => {
        reconciled.push(key);
        return key === 'stuck' && reconciled.length === 1 ? stuck.promise : Promise.resolve(DONE);
      },
      { deadlineMs: 2000 },
    );
    await clock.advance(1000);
    expect(reconciled).to.deep.equal(['stuck']);
    await clock.advance(1_000_000);
    expect(reconciled).to.deep.equal(['stuck', 'other']);
    stuck.resolve(DONE);
    await clock.advance(0);
    expect(reconciled).to.deep.equal(['stuck', 'other', 'stuck']);
  });

  it('aborts reconciles at shutdown, waits for them, and logs no failure', async () => {
    source.keys.push('a', 'b');
    source.becomeSynced();
    let isOver = false;
    const reconciled: string[] = [];
    run(async (key, signal) => {
      reconciled.push(key);
      await clock.sleep(3_600_000, { signal }).catch(() => {});
      await Promise.resolve();
      isOver = true;
      throw signal.reason;
    });
    await clock.advance(0);
    ending.abort(new Error('shutting down'));
    await running;
    expect(isOver).to.equal(true);
    expect(reconciled).to.deep.equal(['a']);
    expect(reported()).to.deep.equal([]);
  });

  it('ends although its sources never sync', async () => {
    run(async () => DONE);
    await clock.advance(0);
    ending.abort(new Error('shutting down'));
    await running;
  });

  it('reconciles the mapped keys of a change', async () => {
    source.keys.push('x-of-a', 'y-of-a', 'z-of-b');
    source.becomeSynced();
    const reconciled: string[] = [];
    const owners = mapKeys(source, ({ key }) => key.split('-of-').slice(1));
    run(
      async (key) => {
        reconciled.push(key);
        return DONE;
      },
      {},
      [owners],
    );
    await clock.advance(0);
    expect(reconciled.sort()).to.deep.equal(['a', 'b']);
  });
});

/** Keys that a spec changes. */
class KeySource implements Watched {
  readonly keys: string[] = [];
  readonly listeners = new Set<(change: { readonly key: string }) => void>();
  readonly #synced = Promise.withResolvers<void>();

  becomeSynced(): void {
    this.#synced.resolve();
  }

  change(key: string): void {
    for (const listener of this.listeners) listener({ key });
  }

  onChange(listener: (change: { readonly key: string }) => void): () => void {
    this.listeners.add(listener);
    for (const key of this.keys) listener({ key });
    return () => this.listeners.delete(listener);
  }

  async synced(signal: AbortSignal): Promise<void> {
    await Promise.race([
      this.#synced.promise,
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    ]);
  }
}

describe('KeyFailures', () => {
  it('leaves other namespaces as many lines as one has that fails with thousands of keys', () => {
    const logger = new RecordingLogger();
    const failures = new KeyFailures({ controller: 'spec', logger });
    const logged = (namespace: string) =>
      logger.lines.filter(({ fields }) => `${fields.key}`.startsWith(`${namespace}/`)).length;
    for (let index = 0; index < 3000; index++) failures.fail(`many/${index}`, new Error('refused'));
    expect(logged('many')).to.equal(500);
    for (let index = 0; index < 10; index++) failures.fail(`other/${index}`, new Error('refused'));
    expect(logged('other')).to.equal(10);
    for (let index = 0; index < 3000; index++) failures.succeed(`many/${index}`);
    for (let index = 0; index < 100; index++) failures.fail(`third/${index}`, new Error('refused'));
    expect(logged('third')).to.equal(100);
    failures.retainOnly(new Set());
    for (let index = 0; index < 3000; index++) failures.fail(`again/${index}`, new Error('refused'));
    expect(logged('again')).to.equal(500);
  });
});
