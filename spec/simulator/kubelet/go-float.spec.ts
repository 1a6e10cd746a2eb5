import { expect } from 'chai';
import fc from 'fast-check';
import { formatGoFloat } from '#simulator/kubelet/go-float.ts';

describe('formatGoFloat', () => {
  // As recorded from a kubelet.
  for (const [value, text] of [
    [0, '0'],
    [495_616, '495616'],
    [25_640_960, '2.564096e+07'],
    [790_056_960, '7.9005696e+08'],
    [0.012046741, '0.012046741'],
    [3061.885831578, '3061.885831578'],
    [1_795_252_338.519669, '1.795252338519669e+09'],
    [1_000_000, '1e+06'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
  ] as const) {
    it(`writes ${text}`, () => expect(formatGoFloat(value)).to.equal(text));
  }

  it('loses nothing', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(formatGoFloat(value)) - value).to.equal(0);
      }),
    );
  });
});
