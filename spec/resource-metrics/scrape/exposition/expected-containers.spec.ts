import { expect } from 'chai';
import fc from 'fast-check';
import {
  type ExpectedContainer,
  ExpectedContainers,
  mayBeExpected,
} from '#lib/resource-metrics/scrape/exposition/expected-containers.ts';

const container = (name: string): ExpectedContainer => ({
  name,
  pod: { namespace: 'n', name: 'p' },
  isPlain: true,
});

describe('ExpectedContainers', () => {
  it('holds what a node had, until it has something else or is gone', () => {
    const expected = new ExpectedContainers();
    const [a, b, c] = ['a', 'b', 'c'].map(container) as [
      ExpectedContainer,
      ExpectedContainer,
      ExpectedContainer,
    ];
    expect(expected.of('node')).to.deep.equal([]);
    const first = [a, b];
    expected.note('node', first);
    expected.note('node', [a, b]);
    expect(expected.of('node')).to.equal(first);
    for (const found of [[b, a], [a], [a, b, c], [a, container('b')]]) {
      expected.note('node', found);
      expect(expected.of('node')).to.equal(found);
    }
    expected.retain((name) => name === 'node');
    expect(expected.of('node')).to.have.length(2);
    expected.retain(() => false);
    expect(expected.of('node')).to.deep.equal([]);
  });

  it('holds nothing of a node that has more than any has', () => {
    const expected = new ExpectedContainers();
    const many = Array.from({ length: 2000 }, (_, index) => container(`${index}`));
    expected.note('node', many);
    expect(expected.of('node')).to.equal(many);
    expected.note('node', [...many, container('one too many')]);
    expect(expected.of('node')).to.deep.equal([]);
  });
});

describe('mayBeExpected', () => {
  it('takes names that stand in a sample as they are, and no others', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '-', '"', '\\', '\n', 'é', '~', '\u007f') }),
        (name) => {
          const escaped = name.replace(/[\\"\n]/g, (character) =>
            character === '\n' ? '\\n' : `\\${character}`,
          );
          const isAsItIs = escaped === name && !/[^ -~]/.test(name);
          for (const [one, namespace, pod] of [
            [name, 'n', 'p'],
            ['c', name, 'p'],
            ['c', 'n', name],
          ] as const)
            expect(mayBeExpected(one, { namespace, name: pod })).to.equal(isAsItIs);
        },
      ),
    );
  });
});
