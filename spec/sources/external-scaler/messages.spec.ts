import { expect } from 'chai';
import {
  decodeIsActive,
  decodeMetricSpecs,
  decodeMetricValues,
} from '#lib/sources/external-scaler/messages.ts';

describe('decodeIsActive', () => {
  it('reads whether an object is active', () => {
    expect(decodeIsActive(Uint8Array.of(8, 1))).to.equal(true);
    expect(decodeIsActive(Uint8Array.of())).to.equal(false);
  });

  it('refuses unread what is far longer than one can be', () => {
    const long = new Uint8Array(1_048_576).fill(0x12).map((byte, index) => (index % 2 ? 0 : byte));
    expect(() => decodeIsActive(long)).to.throw('IsActiveResponse has 1048576 bytes, more than 1024');
  });
});

for (const decode of [decodeIsActive, decodeMetricSpecs, decodeMetricValues])
  describe(decode.name, () => {
    it('refuses what is broken off by an error of its own', () => {
      for (const bytes of [[10], [10, 200], [8]].map((one) => Uint8Array.from(one))) {
        try {
          decode(bytes);
        } catch (error) {
          expect(error).to.have.property('constructor', Error);
          continue;
        }
        expect(bytes, `${decode.name} reads [${bytes}]`).to.deep.equal(undefined);
      }
    });
  });
