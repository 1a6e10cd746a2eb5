import { expect } from 'chai';
import type { ApiContext, Middleware } from '#lib/apiserver/http/api-context.ts';
import { inOrder, lastly } from '#lib/apiserver/http/in-order.ts';

const context = {} as ApiContext;

describe('inOrder', () => {
  it('runs what has nothing to wait for at once, and what stands behind the others once they are done', async () => {
    const done: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = inOrder([
      () => void done.push('a'),
      () => promise.then(() => void done.push('b')),
      () => void done.push('c'),
      async () => void done.push('d'),
    ])(context);
    expect(done).to.deep.equal(['a']);
    resolve();
    await waiting;
    expect(done).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(inOrder([() => {}, () => {}])(context)).to.equal(undefined);
  });

  it('leaves out what stands behind one that fails', async () => {
    for (const fails of failures()) {
      const reached: string[] = [];
      const handle = inOrder([fails, () => void reached.push('a')]);
      expect(await messageOf(async () => handle(context))).to.equal('no');
      expect(reached).to.deep.equal([]);
    }
  });
});

describe('lastly', () => {
  it('does something once a request is handled, or could not be', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let count = 0;
    const then = () => void count++;
    lastly(() => {}, then)(context);
    expect(count).to.equal(1);
    const waiting = lastly(() => promise, then)(context);
    expect(count).to.equal(1);
    resolve();
    await waiting;
    expect(count).to.equal(2);
    for (const fails of failures())
      expect(await messageOf(async () => lastly(fails, then)(context))).to.equal('no');
    expect(count).to.equal(4);
  });
});

function failures(): readonly Middleware[] {
  const fail = () => {
    throw new Error('no');
  };
  return [fail, async () => fail()];
}

async function messageOf(run: () => Promise<void>): Promise<string> {
  return await run().then(
    () => '',
    (error: Error) => error.message,
  );
}
