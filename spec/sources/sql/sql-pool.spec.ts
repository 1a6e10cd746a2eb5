import { expect } from 'chai';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { GuardedSocket } from '#lib/sources/network/guarded-socket.ts';
import type { SqlConnection, SqlRows } from '#lib/sources/sql/sql-connection.ts';
import { SqlPool } from '#lib/sources/sql/sql-pool.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const ROWS: SqlRows = { columns: ['n'], rows: [['1']] };
const signal = new AbortController().signal;

describe('SqlPool', () => {
  it('reuses one connection for sequential queries', async () => {
    const { pool, made } = setUp();
    for (let count = 0; count < 3; count++) expect(await pool.read('1', signal)).to.equal(ROWS);
    expect(made).to.have.length(1);
    pool[Symbol.dispose]();
    expect(made[0]?.isDestroyed).to.equal(true);
  });

  it('closes a connection that is idle for a minute', async () => {
    const { pool, made, clock } = setUp();
    await pool.read('1', signal);
    await clock.advance(59_999);
    expect(made[0]?.isDestroyed).to.equal(false);
    await clock.advance(1);
    expect(made[0]?.isDestroyed).to.equal(true);
    await pool.read('1', signal);
    expect(made).to.have.length(2);
    pool[Symbol.dispose]();
  });

  it('closes a connection whose server sends 257 messages while it is idle', async () => {
    const { pool, made } = setUp();
    for (const [messages, connections] of [
      [256, 1],
      [257, 2],
    ] as const) {
      await pool.read('1', signal);
      for (let count = 0; count < messages; count++) made[0]?.socket.countMessage();
      await pool.read('1', signal);
      expect(made).to.have.length(connections);
    }
    expect(made[0]?.isDestroyed).to.equal(true);
    pool[Symbol.dispose]();
  });

  it('does not use a connection again that failed, or that broke meanwhile', async () => {
    const { pool, made } = setUp();
    expect(await failureOf(pool.read('fail', signal))).to.equal('it fails');
    await pool.read('1', signal);
    made[1]?.socket.destroy();
    await pool.read('1', signal);
    expect(made).to.have.length(3);
    pool[Symbol.dispose]();
  });

  it('lets the fifth caller wait, and removes callers that abort', async () => {
    const { pool, made } = setUp();
    const hanging = new AbortController();
    const four = Array.from({ length: 4 }, () => failureOf(pool.read('hang', hanging.signal)));
    const leaving = new AbortController();
    const fifth = failureOf(pool.read('1', leaving.signal));
    const sixth = pool.read('1', signal);
    await new Promise(setImmediate);
    expect(made).to.have.length(4);
    leaving.abort(new Error('enough'));
    expect(await fifth).to.equal('enough');
    hanging.abort(new Error('too late'));
    expect(await Promise.all(four)).to.deep.equal(Array(4).fill('too late'));
    expect(made.slice(0, 4).every(({ isDestroyed }) => isDestroyed)).to.equal(true);
    expect(await sixth).to.equal(ROWS);
    pool[Symbol.dispose]();
  });

  it('serves waiting callers in order, although one of them has left', async () => {
    const { pool } = setUp();
    const hanging = Array.from({ length: 4 }, () => new AbortController());
    const four = hanging.map((one) => failureOf(pool.read('hang', one.signal)));
    const order: string[] = [];
    const leaving = new AbortController();
    const waiting = ['fifth', 'sixth', 'seventh'].map(async (name) => {
      const abort = name === 'sixth' ? leaving.signal : signal;
      await pool.read('1', abort).then(
        () => order.push(name),
        () => order.push(`${name} left`),
      );
    });
    await new Promise(setImmediate);
    leaving.abort(new Error('enough'));
    await new Promise(setImmediate);
    expect(order).to.deep.equal(['sixth left']);
    hanging[0]?.abort(new Error('too late'));
    await Promise.all(waiting);
    expect(order).to.deep.equal(['sixth left', 'fifth', 'seventh']);
    for (const one of hanging) one.abort(new Error('too late'));
    await Promise.all(four);
    pool[Symbol.dispose]();
  });

  it('closes a connection that opens after its caller has left', async () => {
    const { pool, made, gate } = setUp();
    const opened = Promise.withResolvers<void>();
    gate.opened = opened.promise;
    const leaving = new AbortController();
    const left = failureOf(pool.read('1', leaving.signal));
    await new Promise(setImmediate);
    leaving.abort(new Error('enough'));
    expect(await left).to.equal('enough');
    const closed = failureOf(pool.read('1', signal));
    await new Promise(setImmediate);
    pool[Symbol.dispose]();
    opened.resolve();
    expect(await closed).to.equal('the connections are closed');
    expect(made.map(({ isDestroyed }) => isDestroyed)).to.deep.equal([true, true]);
  });

  it('closes connections that are released after it was closed', async () => {
    const { pool, made, gate, clock } = setUp();
    const responded = Promise.withResolvers<void>();
    gate.responded = responded.promise;
    const reading = pool.read('1', signal);
    await new Promise(setImmediate);
    pool[Symbol.dispose]();
    made.length = 0;
    responded.resolve();
    expect(await reading).to.equal(ROWS);
    expect(clock.sleeperCount).to.equal(0); // no pending timers
    expect(await failureOf(pool.read('1', signal))).to.equal('the connections are closed');
    expect(made).to.deep.equal([]);
  });

  it('aborts statements in progress when it is closed, and accepts no more', async () => {
    const { pool, made } = setUp();
    const reading = failureOf(pool.read('hang until destroyed', signal));
    await new Promise(setImmediate);
    pool[Symbol.dispose]();
    expect(await reading).to.equal('destroyed');
    expect(made[0]?.isDestroyed).to.equal(true);
    expect(await failureOf(pool.read('1', signal))).to.equal('the connections are closed');
  });
});

interface Made {
  readonly socket: GuardedSocket;
  isDestroyed: boolean;
}

function setUp() {
  const clock = new ManualClock();
  const made: Made[] = [];
  const gate: { opened?: Promise<void>; responded?: Promise<void> } = {};
  const connect = async (): Promise<SqlConnection> => {
    await gate.opened;
    const socket = new GuardedSocket({ allowedHosts: new AllowedHosts([]) });
    socket.on('error', () => {}); // its client reports it
    const one: Made = { socket, isDestroyed: false };
    made.push(one);
    const destroyed = Promise.withResolvers<never>();
    destroyed.promise.catch(() => {});
    return {
      socket,
      async read(text) {
        if (text === 'fail') throw new Error('it fails');
        if (text.startsWith('hang')) return await destroyed.promise;
        await gate.responded;
        return ROWS;
      },
      destroy() {
        one.isDestroyed = true;
        destroyed.reject(new Error('destroyed'));
        socket.destroy();
      },
    };
  };
  return { pool: new SqlPool({ clock, connect }), made, clock, gate };
}

async function failureOf(reading: Promise<unknown>): Promise<string> {
  return await reading.then(
    () => 'none',
    (error: Error) => error.message,
  );
}
