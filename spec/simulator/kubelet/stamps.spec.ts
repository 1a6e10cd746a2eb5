import { expect } from 'chai';
import { JsonBytes } from '#simulator/kubelet/json-bytes.ts';
import { Stamps } from '#simulator/kubelet/stamps.ts';

describe('Stamps', () => {
  it('writes the second that has begun, however often and for however many', () => {
    const stamps = new Stamps();
    const bytes = new JsonBytes();
    const textAt = (epochMs: number) => {
      bytes.appendPiece(stamps.at(epochMs));
      return bytes.take().toString();
    };
    for (let round = 0; round < 2; round++) {
      for (let second = 0; second < 30_000; second += 7) {
        const expected = JSON.stringify(`${new Date(second * 1000).toISOString().slice(0, 19)}Z`);
        expect(textAt(second * 1000 + 999.9)).to.equal(expected);
      }
    }
  });
});
