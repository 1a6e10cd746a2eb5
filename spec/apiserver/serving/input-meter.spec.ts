import { expect } from 'chai';
import { InputMeter } from '#lib/apiserver/serving/input-meter.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const KIB = 1024;

describe('InputMeter', () => {
  it('cuts off a connection that sends too much without a request', async () => {
    using metered = meter();
    const flood = metered.add();
    const other = metered.add();
    flood.bytes = 1024 * KIB + 2 * KIB;
    other.bytes = 1024 * KIB;
    await metered.pass(50); // 3.2 KiB are allowed for them
    expect([flood.isCutOff, metered.exceeded]).to.deep.equal([false, 0]);
    flood.bytes += 8 * KIB;
    await metered.pass(50);
    expect([flood.isCutOff, other.isCutOff, metered.exceeded]).to.deep.equal([true, false, 1]);
  });

  it('allows as much again with each request', async () => {
    using metered = meter();
    const client = metered.add();
    for (let request = 0; request < 5; request++) {
      client.bytes += 1000 * KIB;
      metered.begin(client);
      await metered.pass(50);
    }
    expect(client.isCutOff).to.equal(false);
  });

  it('allows 64 KiB a second, for window updates and pings', async () => {
    using metered = meter();
    const client = metered.add();
    for (let second = 0; second < 100; second++) {
      client.bytes += 60 * KIB;
      await metered.pass(1000);
    }
    expect(client.isCutOff).to.equal(false);
    client.bytes += 1100 * KIB;
    await metered.pass(50);
    expect(client.isCutOff).to.equal(true);
  });
});

interface Client {
  bytes: number;
  isCutOff: boolean;
}

function meter() {
  const clock = new ManualClock();
  const state = { exceeded: 0 };
  const input = new InputMeter({ clock, maxBytes: 1024 * KIB, onExceeded: () => state.exceeded++ });
  return {
    async pass(ms: number) {
      await clock.advance(ms);
      input.check();
    },
    get exceeded() {
      return state.exceeded;
    },
    add(): Client {
      const client: Client = { bytes: 0, isCutOff: false };
      input.add(client, { bytesRead: () => client.bytes, cutOff: () => (client.isCutOff = true) });
      return client;
    },
    begin: (client: Client) => input.begin(client),
    [Symbol.dispose]: () => input[Symbol.dispose](),
  };
}
