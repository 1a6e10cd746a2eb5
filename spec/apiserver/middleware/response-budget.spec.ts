import { expect } from 'chai';
import type { StatusError } from '#lib/apiserver/http/status-error.ts';
import { ResponseBudget } from '#lib/apiserver/middleware/response-budget.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('ResponseBudget', () => {
  it('admits responses up to a number of bytes, and others wait until some have been read', async () => {
    const { budget, enter } = setUp(100);
    const first = enter('a', 60);
    enter('a', 40);
    const third = enter('b', 50);
    await Promise.resolve();
    expect([budget.bufferedBytes, budget.waitingCount, third.state]).to.deep.equal([100, 1, 'waiting']);
    first.buffered[Symbol.dispose]();
    await third.settled;
    expect([budget.bufferedBytes, budget.waitingCount, third.state]).to.deep.equal([90, 0, 'buffered']);
  });

  it('admits a single response above the bound alone', async () => {
    const { budget, enter } = setUp(100);
    const long = enter('a', 1_000);
    const short = enter('b', 1);
    expect(long.state).to.equal('buffered');
    long.buffered[Symbol.dispose]();
    await short.settled;
    expect([short.state, budget.bufferedBytes]).to.deep.equal(['buffered', 1]);
  });

  it('admits first the responses of the client with the least memory, in any order of arrival', async () => {
    const { enter } = setUp(100);
    const [first] = Array.from({ length: 4 }, () => enter('many', 25));
    const before = enter('many', 25);
    const after = enter('one', 25);
    first?.buffered[Symbol.dispose]();
    await after.settled;
    expect([before.state, after.state]).to.deep.equal(['waiting', 'buffered']);
  });

  it('cuts off the oldest response of the client with the most memory, two seconds after it could be read, while another waits', async () => {
    const { clock, enter, refused, delivered } = setUp(100);
    const little = delivered('little', 20);
    const [old, young] = [delivered('much', 40), delivered('much', 40)];
    await clock.advance(1_000);
    const newcomer = enter('new', 30);
    await clock.advance(999);
    expect([old.state, newcomer.state]).to.deep.equal(['buffered', 'waiting']);
    await clock.advance(1);
    expect([little, old, young, newcomer].map(({ state }) => state)).to.deep.equal([
      'buffered',
      'cut off',
      'buffered',
      'buffered',
    ]);
    expect(refused()).to.equal(1);
    expect(clock.sleeperCount).to.equal(0);
  });

  it('cuts off nothing while nothing waits, and no response that is still being made', async () => {
    const { clock, enter, delivered } = setUp(100);
    const slow = delivered('a', 50);
    const beingMade = enter('a', 50);
    await clock.advance(60_000);
    expect([slow.state, beingMade.state]).to.deep.equal(['buffered', 'buffered']);
    slow.buffered[Symbol.dispose]();
    enter('a', 50);
    const waiting = enter('b', 50);
    await clock.advance(9_999);
    expect([beingMade.state, waiting.state]).to.deep.equal(['buffered', 'waiting']);
    beingMade.buffered.deliver();
    await clock.advance(1);
    expect(waiting.state).to.equal('refused with 429');
  });

  it('serves a user within two seconds, whatever others request', async () => {
    const { clock, enter, delivered } = setUp(100);
    for (let request = 0; request < 10; request++) delivered('hostile', 10);
    const more = Array.from({ length: 50 }, () => enter('hostile', 10));
    const legitimate = enter('legitimate', 10);
    await clock.advance(2_000);
    expect(legitimate.state).to.equal('buffered');
    expect(more.filter(({ state }) => state === 'buffered')).to.have.length.below(11);
  });

  it('removes responses of clients that have left, whether they wait or not', async () => {
    const { budget, enter, clock } = setUp(100);
    const buffered = enter('a', 100);
    const waiting = enter('b', 100);
    waiting.buffered[Symbol.dispose]();
    await waiting.settled;
    buffered.buffered[Symbol.dispose]();
    buffered.buffered[Symbol.dispose]();
    expect([budget.bufferedBytes, budget.waitingCount, clock.sleeperCount]).to.deep.equal([0, 0, 0]);
    expect(() => buffered.buffered.reserve(10)).to.throw('Timeout');
    expect(budget.bufferedBytes).to.equal(0);
  });

  it('corrects the size of an admitted response without waiting', async () => {
    const { budget, enter } = setUp(100);
    const estimated = enter('a', 90);
    const waiting = enter('b', 50);
    await estimated.buffered.reserve(30);
    await waiting.settled;
    expect([budget.bufferedBytes, waiting.state]).to.deep.equal([80, 'buffered']);
    await estimated.buffered.reserve(300);
    expect(budget.bufferedBytes).to.equal(350);
  });
});

function setUp(maxBytes: number) {
  const clock = new ManualClock();
  let refusals = 0;
  const budget = new ResponseBudget({ maxBytes, clock, onRefused: () => refusals++ });
  const enter = (client: string, bytes: number) => {
    const buffered = budget.enter(client, () => {
      response.state = 'cut off';
    });
    const response = { buffered, state: 'buffered', settled: Promise.resolve() };
    const waited = buffered.reserve(bytes);
    if (waited) {
      response.state = 'waiting';
      response.settled = waited.then(
        () => {
          response.state = 'buffered';
        },
        (error: StatusError) => {
          response.state = `refused with ${error.code}`;
        },
      );
    }
    return response;
  };
  const delivered = (client: string, bytes: number) => {
    const response = enter(client, bytes);
    response.buffered.deliver();
    return response;
  };
  return { clock, budget, enter, delivered, refused: () => refusals };
}
