import { expect } from 'chai';
import type { ScaledObjectRef } from '#lib/sources/external-scaler/messages.ts';
import { MetricSpecCache } from '#lib/sources/external-scaler/metric-spec-cache.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const SERVER = { host: '127.0.0.1', port: 9090, tls: undefined };
const signal = new AbortController().signal;

describe('MetricSpecCache', () => {
  it('returns cached metrics of a scaler that is down, up to 10,000 metrics', async () => {
    const counts = new Map<string, number>();
    let isUp = true;
    const existing = new MetricSpecCache(
      {
        async metrics(_, { name }) {
          if (!isUp) throw new Error('it is down');
          return Array.from({ length: counts.get(name) ?? 1 }, (_, index) => ({
            name: `m${index}`,
            target: 1,
          }));
        },
      },
      { clock: new ManualClock() },
    );
    const request = async (name: string) => await existing.get(SERVER, object(name), signal);
    for (let index = 0; index < 101; index++) {
      counts.set(`web-${index}`, 100);
      await request(`web-${index}`);
      if (index === 50) await request('web-0'); // so that web-1 is the oldest
    }
    isUp = false;
    expect(await request('web-0')).to.have.lengthOf(100);
    expect(await request('web-100')).to.have.lengthOf(100);
    expect(await errorOf(request('web-1'))).to.match(/it is down/);
    // An object without metrics counts as one metric, so one more was evicted.
    expect(await errorOf(request('web-2'))).to.match(/it is down/);
    expect(await request('web-4')).to.have.lengthOf(100);
  });
});

function object(name: string): ScaledObjectRef {
  return { name, namespace: 'default', metadata: {}, secrets: [] };
}
