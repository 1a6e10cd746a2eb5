import { expect } from 'chai';
import { measuredAt } from '#lib/sources/measured-time.ts';

const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

describe('measuredAt', () => {
  it('takes times from 1970 to 9999, in whole milliseconds', () => {
    expect(measuredAt(0)).to.deep.equal({ takenAtMs: 0 });
    expect(measuredAt(1767225600123.4)).to.deep.equal({ takenAtMs: 1767225600123 });
    expect(measuredAt(LAST_MS)).to.deep.equal({ takenAtMs: LAST_MS });
  });

  it('takes no other', () => {
    for (const timeMs of [-1, LAST_MS + 1, 1e300, Number.POSITIVE_INFINITY, Number.NaN])
      expect(measuredAt(timeMs)).to.deep.equal({});
  });
});
