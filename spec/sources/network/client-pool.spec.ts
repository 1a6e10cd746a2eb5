import { expect } from 'chai';
import { ClientPool, type PooledClient } from '#lib/sources/network/client-pool.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

class Connection implements PooledClient {
  isBroken = false;
  isDestroyed = false;

  destroy(): void {
    this.isDestroyed = true;
  }
}

describe('ClientPool', () => {
  let clock: ManualClock;
  let clients: ClientPool<Connection>;
  let made: Connection[];
  const never = new AbortController().signal;
  const connect = async () => {
    const connection = new Connection();
    made.push(connection);
    return connection;
  };
  const use = <R>(work: (client: Connection) => Promise<R>, signal = never, key = 'a') =>
    clients.use(key, { connect, work, signal });

  beforeEach(() => {
    clock = new ManualClock();
    clients = new ClientPool({ clock });
    made = [];
  });

  afterEach(() => clients[Symbol.dispose]());

  it('connects again where an idle connection has broken', async () => {
    await use(async () => {});
    const [first] = made;
    if (first) first.isBroken = true;
    expect(await use(async (client) => client.isBroken)).to.equal(false);
    expect([made.length, first?.isDestroyed]).to.deep.equal([2, true]);
  });

  it('shares a connection between those that need the same', async () => {
    const both = Promise.withResolvers<void>();
    const first = use(() => both.promise);
    expect(await use(async (client) => client.isDestroyed)).to.equal(false);
    both.resolve();
    await first;
    await use(async () => {}, never, 'b');
    expect([made.length, clients.size]).to.deep.equal([2, 2]);
  });

  it('closes those that rest the longest, where servers send on to ever new ones', async () => {
    const busy = Promise.withResolvers<void>();
    const first = use(() => busy.promise, never, 'busy');
    for (let index = 0; index < 300; index++) await use(async () => {}, never, `moved-${index}`);
    expect(clients.size).to.equal(257);
    expect(made.map(({ isDestroyed }) => isDestroyed)).to.deep.equal([
      false,
      ...Array(44).fill(true),
      ...Array(256).fill(false),
    ]);
    await use(async () => {}, never, 'moved-44');
    await use(async () => {}, never, 'another');
    expect(made[45]?.isDestroyed).to.equal(false); // used since
    expect(made[46]?.isDestroyed).to.equal(true);
    busy.resolve();
    await first;
    expect(clients.size).to.equal(256);
  });

  it('reuses a connection over which a server refused a request', async () => {
    const other = Promise.withResolvers<string>();
    const waiting = use(() => other.promise);
    expect(await errorOf(use(async () => await Promise.reject(new Error('refused'))))).to.equal('refused');
    expect(made[0]?.isDestroyed).to.equal(false);
    other.resolve('told');
    expect(await waiting).to.equal('told');
    await use(async () => {});
    expect(made).to.have.length(1);
  });

  it('drops a connection that is broken', async () => {
    const broken = use(async (client) => {
      client.isBroken = true;
      throw new Error('reset');
    });
    expect(await errorOf(broken)).to.equal('reset');
    await use(async () => {});
    expect(made.map(({ isDestroyed }) => isDestroyed)).to.deep.equal([true, false]);
  });

  it('replaces a connection with an aborted request, and lets other requests finish on it', async () => {
    const other = Promise.withResolvers<string>();
    const waiting = use(() => other.promise);
    const { signal, given } = giveUp();
    const silent = use(() => new Promise(() => {}), signal);
    given();
    expect(await errorOf(silent)).to.equal('given up');
    await use(async () => {});
    expect(made.map(({ isDestroyed }) => isDestroyed)).to.deep.equal([false, false]);
    expect(clients.size).to.equal(2);
    other.resolve('told');
    expect(await waiting).to.equal('told');
    await settled();
    expect(made.map(({ isDestroyed }) => isDestroyed)).to.deep.equal([true, false]);
    expect(clients.size).to.equal(1);
  });

  it('continues to connect for others when one caller aborts', async () => {
    const connected = Promise.withResolvers<Connection>();
    const waiting = clients.use('a', {
      connect: () => connected.promise,
      work: async () => 'told',
      signal: never,
    });
    const { signal, given } = giveUp();
    const second = use(async () => {}, signal);
    given();
    expect(await errorOf(second)).to.equal('given up');
    connected.resolve(new Connection());
    expect(await waiting).to.equal('told');
    expect(made).to.have.length(0);
  });

  it('stops connecting when the last caller aborts, and connects anew for the next', async () => {
    const connected = Promise.withResolvers<Connection>();
    let attempt: AbortSignal | undefined;
    const { signal, given } = giveUp();
    const first = errorOf(
      clients.use('a', {
        connect: (own) => {
          attempt = own;
          return connected.promise;
        },
        work: async () => 'told',
        signal,
      }),
    );
    given();
    expect(await first).to.equal('given up');
    expect(attempt?.aborted).to.equal(true);
    expect(await use(async () => 'told')).to.equal('told');
    const late = new Connection();
    connected.resolve(late);
    await settled();
    expect(late.isDestroyed).to.equal(true);
    expect(clients.size).to.equal(1);
  });

  it('fails when connecting takes too long, and destroys a late connection', async () => {
    const connected = Promise.withResolvers<Connection>();
    let reported: AbortSignal | undefined;
    const waiting = errorOf(
      clients.use('a', {
        connect: (signal) => {
          reported = signal;
          return connected.promise;
        },
        work: async () => 'told',
        signal: never,
      }),
    );
    await clock.advance(10_000);
    expect(await waiting).to.equal('no connection within 10s');
    expect(reported?.aborted).to.equal(true);
    expect(clients.size).to.equal(0);
    const late = new Connection();
    connected.resolve(late);
    await settled();
    expect(late.isDestroyed).to.equal(true);
  });

  it('connects again after it could not', async () => {
    const refused = () => Promise.reject(new Error('nobody there'));
    expect(
      await errorOf(clients.use('a', { connect: refused, work: async () => {}, signal: never })),
    ).to.equal('nobody there');
    expect(await use(async () => 'told')).to.equal('told');
  });

  it('closes a connection that is idle for five minutes', async () => {
    await use(async () => {});
    await clock.advance(299_999);
    await use(async () => {});
    await clock.advance(299_999);
    expect(made[0]?.isDestroyed).to.equal(false);
    await clock.advance(1);
    expect([made[0]?.isDestroyed, clients.size, clock.sleeperCount]).to.deep.equal([true, 0, 0]);
  });

  it('closes all when it is disposed of, also those that are replaced, and refuses to be used', async () => {
    const { signal, given } = giveUp();
    const waiting = use(() => new Promise(() => {}));
    const silent = use(() => new Promise(() => {}), signal);
    given();
    await errorOf(silent);
    await use(async () => {});
    clients[Symbol.dispose]();
    await settled();
    expect(made.map(({ isDestroyed }) => isDestroyed)).to.deep.equal([true, true]);
    expect(await errorOf(use(async () => {}))).to.equal('the connections are closed');
    void waiting;
  });
});

function giveUp(): { readonly signal: AbortSignal; readonly given: () => void } {
  const controller = new AbortController();
  return {
    signal: controller.signal,
    given: () => setImmediate(() => controller.abort(new Error('given up'))),
  };
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
