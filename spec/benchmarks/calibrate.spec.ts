import { expect } from 'chai';
import { calibrate } from './calibrate.ts';

describe('calibrate', () => {
  it('measures the speed of this machine', async () => {
    const { jsonMegabytesPerSecond, tlsHandshakesPerSecond } = await calibrate(20);
    expect(jsonMegabytesPerSecond).to.be.within(1, 10_000);
    expect(tlsHandshakesPerSecond).to.be.within(10, 100_000);
  });
});
