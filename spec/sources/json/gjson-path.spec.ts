import { expect } from 'chai';
import { findValueAtPath } from '#lib/sources/json/gjson-path.ts';

const QUEUES = {
  queues: [
    { name: 'a', depth: 1, tags: ['x'] },
    { name: 'b', depth: 5, tags: { toString: 1 } },
    { name: 'c', depth: 7, tags: null },
  ],
};

describe('findValueAtPath', () => {
  for (const [path, value] of [
    ['queues.1.depth', 5],
    ['queues.#', 3],
    ['queues.#.depth', [1, 5, 7]],
    ['queues.#(name=="b").depth', 5],
    ['queues.#(depth>1)#.name', ['b', 'c']],
    ['queues.#(depth>=5)#.#', 2],
    ['queues.#(depth!=5)#.depth', [1, 7]],
    ['queues.#(missing==1).depth', undefined],
    ['queues.3.depth', undefined],
  ] as const)
    it(`finds ${JSON.stringify(value)} at ${path}`, () => {
      expect(findValueAtPath(QUEUES, path)).to.deep.equal(value);
    });

  it('has a query match no list and no object, whatever members it has', () => {
    for (const operator of ['==', '!=', '<', '<=', '>', '>='])
      expect(findValueAtPath(QUEUES, `queues.#(tags${operator}"x")#.name`), operator).to.not.include('b');
    expect(findValueAtPath(QUEUES, 'queues.#(tags=="x")')).to.equal(undefined);
    expect(findValueAtPath([{ a: { toString: 1 } }], '#(a=="x")')).to.equal(undefined);
  });

  it('finds values in a large document by a path of usual length', () => {
    const items = Array.from({ length: 30_000 }, (_, index) => ({
      state: index % 2 ? 'ready' : '',
      n: index,
    }));
    expect(findValueAtPath({ items }, 'items.#(state=="ready")#.#')).to.equal(15_000);
    expect(findValueAtPath({ items }, 'items.#.n')).to.have.length(30_000);
  });

  it('refuses a path of queries that takes too many steps in a document', () => {
    let tree: unknown = 1;
    for (let depth = 0; depth < 15; depth++) tree = [tree, tree];
    const path = Array.from({ length: 64 }, () => '#(a!=1)#').join('.');
    expect(() => findValueAtPath(tree, path)).to.throw('the valueLocation takes more than 100000 steps');
  });
});
