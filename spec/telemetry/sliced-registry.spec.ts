import { expect } from 'chai';
import { Gauge } from 'prom-client';
import { SlicedRegistry } from '#lib/telemetry/sliced-registry.ts';

describe('SlicedRegistry', () => {
  it('appends sliced series to those of prom-client, and yields to the event loop when slices have taken milliseconds', async () => {
    let nowMs = 0;
    const registry = new SlicedRegistry({ monotonicMs: () => nowMs });
    new Gauge({ name: 'plain', help: 'Plain.', registers: [registry] }).set(1);
    const turns: string[] = [];
    registry.add({
      *slices() {
        for (const slice of ['one 1\n', '', 'two 2\n']) {
          turns.push(slice);
          setImmediate(() => turns.push('turned'));
          nowMs += 1;
          yield slice;
        }
      },
    });
    expect(await registry.metrics()).to.match(/^# HELP plain Plain\.\n.*\nplain 1\n+one 1\ntwo 2\n$/s);
    expect(turns).to.deep.equal(['one 1\n', '', 'turned', 'turned', 'two 2\n']);
  });
});
