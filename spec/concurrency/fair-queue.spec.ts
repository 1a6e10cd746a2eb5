import { expect } from 'chai';
import fc from 'fast-check';
import { FairQueue } from '#lib/concurrency/fair-queue.ts';

describe('FairQueue', () => {
  it('gives every other tenant a turn between two items of one', () => {
    const queue = new FairQueue<string>();
    for (const item of ['a1', 'a2', 'a3']) queue.push('a', item);
    queue.push('b', 'b1');
    queue.push('c', 'c1');
    queue.push('b', 'b2');
    expect(takeAll(queue)).to.deep.equal(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(queue.shift()).to.equal(undefined);
  });

  it('passes over tenants that may not have an item, which keep their order', () => {
    const queue = new FairQueue<string>();
    for (const item of ['a1', 'a2']) queue.push('a', item);
    queue.push('b', 'b1');
    expect(queue.shift((tenant) => tenant === 'b')).to.equal('b1');
    expect(queue.shift((tenant) => tenant === 'b')).to.equal(undefined);
    expect(takeAll(queue)).to.deep.equal(['a1', 'a2']);
  });

  it('has nothing once it is cleared', () => {
    const queue = new FairQueue<string>();
    queue.push('a', 'a1');
    queue.clear();
    expect(queue.shift()).to.equal(undefined);
    queue.push('a', 'a2');
    expect(takeAll(queue)).to.deep.equal(['a2']);
  });

  it('loses nothing, keeps the order of each tenant, and has none wait for more than one item of each other', () => {
    const operation = fc.oneof(fc.constantFrom('a', 'b', 'c', 'd'), fc.constant('take'));
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 3000 }), (operations) => {
        const queue = new FairQueue<string>();
        const pushed = new Map<string, string[]>();
        const taken = new Map<string, string[]>();
        const passed = new Map<string, string[]>();
        let count = 0;
        const take = () => {
          const item = queue.shift();
          if (item === undefined) return false;
          const tenant = item[0] ?? '';
          taken.set(tenant, [...(taken.get(tenant) ?? []), item]);
          passed.delete(tenant);
          for (const [waiting, others] of passed) {
            expect(others, waiting).not.to.include(tenant);
            others.push(tenant);
          }
          const left = (pushed.get(tenant)?.length ?? 0) - (taken.get(tenant)?.length ?? 0);
          if (left > 0) passed.set(tenant, []);
          return true;
        };
        for (const one of operations) {
          if (one === 'take') take();
          else {
            const item = `${one}${count++}`;
            pushed.set(one, [...(pushed.get(one) ?? []), item]);
            queue.push(one, item);
            if (!passed.has(one)) passed.set(one, []);
          }
        }
        while (take());
        expect([...taken].sort()).to.deep.equal([...pushed].sort());
      }),
      { numRuns: 30 },
    );
  });
});

function takeAll(queue: FairQueue<string>): string[] {
  const items: string[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) items.push(item);
  return items;
}
