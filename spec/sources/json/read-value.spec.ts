import { expect } from 'chai';
import { readExpositionValue } from '#lib/sources/json/read-value.ts';
import { growthOf } from '#spec/reliability/foreign-text/growth.ts';

describe('readExpositionValue', () => {
  it('compares the values of labels behind their escapes', () => {
    const text = String.raw`depth{queue="a\"b"} 1
depth{queue="a\\nb"} 2
depth{queue="a\nb"} 3
depth{queue="a\d"} 4
depth{queue="a"} 5
depth{queue="a",queue="z"} 6
`;
    const at = (value: string) => readExpositionValue(text, `depth{queue="${value}"}`);
    expect(at(String.raw`a\"b`)).to.equal(1);
    expect(at(String.raw`a\\nb`)).to.equal(2);
    expect([at(String.raw`a\nb`), at('a\nb')]).to.deep.equal([3, 3]);
    expect([at(String.raw`a\d`), at(String.raw`a\\d`)]).to.deep.equal([4, 4]);
    expect([at('a'), at('z')]).to.deep.equal([5, 6]);
    expect(() => at('ab')).to.throw(/not found/);
  });

  it('reads escapes at no more than four times the cost of other characters', async () => {
    const parts = 16;
    const series = (value: string) => `depth{queue="${value}"} 1`;
    const short = series('x'.repeat(2 ** 20 / parts));
    const long = series('\\\\'.repeat(2 ** 19));
    const read = (text: string) => readExpositionValue(text, 'depth');
    expect((await growthOf(read, { short, long, parts })).isLinear).to.equal(true);
  });
});
