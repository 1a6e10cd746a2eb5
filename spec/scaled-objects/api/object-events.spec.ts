import { expect } from 'chai';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { eventsOf, recordUnwritten } from '#lib/scaled-objects/api/object-events.ts';

describe('eventsOf', () => {
  const recorded: unknown[] = [];
  const object = { metadata: { namespace: 'shop', name: 'web', uid: 'u', labels: {} } };
  const own = eventsOf(object, 'ScaledObject', { record: (event) => void recorded.push(event) });

  beforeEach(() => recorded.splice(0));

  it('records normal and warning events of the object with its UID', () => {
    const regarding = {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', namespace: 'shop', name: 'web', uid: 'u' },
    };
    own.normal('Done', 'all is well');
    own.warning('Failed', 'nothing is');
    expect(recorded).to.deep.equal([
      { regarding, type: 'Normal', reason: 'Done', action: 'Scale', message: 'all is well' },
      { regarding, type: 'Warning', reason: 'Failed', action: 'Scale', message: 'nothing is' },
    ]);
  });

  it('records a failed status write, unless the object was deleted or changed, or the program stops', () => {
    const error = (statusCode: number) =>
      new ApiError('no', { statusCode, reason: undefined, retryAfterMs: undefined });
    const { signal } = new AbortController();
    for (const one of [error(404), error(409)]) recordUnwritten('R', one, { own, signal });
    recordUnwritten('R', error(500), { own, signal: AbortSignal.abort() });
    expect(recorded).to.deep.equal([]);
    for (const one of [error(500), new Error('ECONNRESET')]) recordUnwritten('R', one, { own, signal });
    expect(recorded.map((one) => (one as { message: string }).message)).to.deep.equal(['no', 'ECONNRESET']);
  });
});
