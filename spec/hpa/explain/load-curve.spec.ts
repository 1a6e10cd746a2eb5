import { expect } from 'chai';
import { inOrder, loadAt, parseLoadCsv } from '#lib/hpa/explain/load-curve.ts';

describe('parseLoadCsv', () => {
  it('reads durations and quantities, and leaves out what is empty', () => {
    expect(parseLoadCsv('at, cpu ,queue\r\n0s, 300m ,20\n\n1m30s,,5\n2m,1\n')).to.deep.equal([
      { atMs: 0, values: { cpu: '300m', queue: '20' } },
      { atMs: 90_000, values: { queue: '5' } },
      { atMs: 120_000, values: { cpu: '1' } },
    ]);
  });

  const WRONG: readonly [string, string][] = [
    ['time,cpu\n0s,1', 'line 1 is no heading'],
    ['at\n0s', 'line 1 is no heading'],
    ['at,cpu\nsoon,1', 'line 2 begins with no duration'],
    ['at,cpu\n0s,1,2', 'line 2 has too many cells'],
    ['at,cpu\n0s,1\n1s,many', 'line 3, cpu: "many" is no quantity'],
    ['at,cpu\n1m,1\n1m,2', 'point 2 is no later than the one before'],
    ['\n'.repeat(200_000), 'more than 100000 lines'],
  ];
  for (const [text, problem] of WRONG) {
    it(`says that ${problem}`, () => expect(() => parseLoadCsv(text)).to.throw(problem));
  }
});

describe('loadAt', () => {
  it('is that of the last point that is not later', () => {
    const points = inOrder([
      { atMs: 1000, values: { a: '1' } },
      { atMs: 2000, values: { a: '2' } },
    ]);
    expect([0, 1000, 1999, 2000, 9999].map((atMs) => loadAt(points, atMs).a)).to.deep.equal([
      ...[undefined, '1', '1', '2', '2'],
    ]);
  });

  it('is found with a few looks among as many points as are read, wherever it is', () => {
    let looks = 0;
    const points = Array.from({ length: 100_000 }, (_, place) => ({
      get atMs() {
        looks++;
        return place * 1000;
      },
      values: { a: `${place}` },
    }));
    for (const place of [0, 1, 49_999, 50_000, 99_998, 99_999]) {
      looks = 0;
      expect(loadAt(points, place * 1000 + 500)).to.deep.equal({ a: `${place}` });
      expect(looks).to.be.below(20);
    }
    expect([loadAt(points, -1), loadAt([], 0)]).to.deep.equal([{}, {}]);
  });
});
