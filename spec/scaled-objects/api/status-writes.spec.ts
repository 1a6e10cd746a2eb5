import { expect } from 'chai';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { createStatusWrites } from '#lib/scaled-objects/api/status-writes.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

interface Thing extends KubernetesObject {
  readonly status?: Readonly<Record<string, unknown>>;
}

describe('findStatusWriters', () => {
  const { signal } = new AbortController();
  const thing: Thing = { metadata: { name: 'a', namespace: 'n', uid: 'u' }, status: { types: '', kept: 1 } };

  it('merges what cannot be applied, and does not try that again', async () => {
    const calls: unknown[] = [];
    const client = refusingClient(422, calls);
    const statuses = createStatusWrites<NonNullable<Thing['status']>, Thing>(
      client,
      { find: () => thing },
      new ManualClock(),
    );
    await statuses.write(thing, { kept: 2, empty: '' }, signal);
    await statuses.write({ ...thing, status: { kept: 2 } }, { kept: 3 }, signal);
    await statuses.write({ ...thing, status: { kept: 3 } }, { kept: 3 }, signal);
    expect(calls).to.deep.equal([
      'apply',
      { metadata: { uid: 'u' }, status: { types: null, kept: 2 } },
      { metadata: { uid: 'u' }, status: { kept: 3 } },
    ]);
  });

  it('records only existing objects that cannot be applied to', async () => {
    const calls: unknown[] = [];
    const names = ['a', 'b', 'c'];
    const [a, b, c] = names.map((name): Thing => ({ metadata: { name, namespace: 'n', uid: name } }));
    const there = new Map([a, b].map((one) => [`n/${one?.metadata.name}`, one]));
    const statuses = createStatusWrites<NonNullable<Thing['status']>, Thing>(
      refusingClient(422, calls),
      { find: (key) => there.get(key) },
      new ManualClock(),
    );
    const write = async (one: Thing | undefined) => {
      calls.length = 0;
      if (one) await statuses.write(one, { kept: 2 }, signal);
      return calls.filter((call) => call === 'apply').length;
    };
    expect([await write(a), await write(b), await write(a), await write(b)]).to.deep.equal([1, 1, 0, 0]);
    there.delete('n/a');
    expect([await write(c), await write(b), await write(a)]).to.deep.equal([1, 0, 1]);
    const again = { metadata: { name: 'b', namespace: 'n', uid: 'another' } };
    expect([await write(again), await write(again)]).to.deep.equal([1, 0]);
  });

  it('passes on any other refusal', async () => {
    const calls: unknown[] = [];
    const statuses = createStatusWrites<NonNullable<Thing['status']>, Thing>(
      refusingClient(403, calls),
      { find: () => thing },
      new ManualClock(),
    );
    const refusal = await statuses.write(thing, { kept: 2 }, signal).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(ApiError);
    expect(calls).to.deep.equal(['apply']);
  });
});

/** Rejects server-side apply, as a server does; merge patches succeed. */
function refusingClient(statusCode: number, calls: unknown[]): ResourceClient<Thing> {
  const client: Pick<ResourceClient<Thing>, 'apply' | 'patch'> = {
    async apply() {
      calls.push('apply');
      throw new ApiError('no', { statusCode, reason: undefined, retryAfterMs: undefined });
    },
    async patch(_, { body }) {
      calls.push(body);
      return { metadata: { name: 'a' } };
    },
  };
  return client as ResourceClient<Thing>;
}
