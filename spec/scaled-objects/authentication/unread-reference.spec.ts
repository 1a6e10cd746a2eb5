import { expect } from 'chai';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { fetchReference, UnreadReference } from '#lib/scaled-objects/authentication/unread-reference.ts';

describe('fetchReference', () => {
  const { signal } = new AbortController();
  const thrownBy = async (error: Error, by = signal) =>
    await fetchReference(() => Promise.reject(error), by).catch((thrown: unknown) => thrown);
  const apiError = (statusCode: number) =>
    new ApiError('no', { statusCode, reason: undefined, retryAfterMs: undefined });

  it('leaves what the API server says of the object as it is', async () => {
    expect(await fetchReference(async () => 'read', signal)).to.equal('read');
    for (const error of [apiError(400), apiError(403), apiError(404), apiError(499)])
      expect(await thrownBy(error)).to.equal(error);
  });

  it('tells apart that the API server does not know us, is busy, fails or does not respond', async () => {
    const errors = [apiError(401), apiError(429), apiError(500), apiError(503), new Error('ECONNRESET')];
    for (const cause of errors) {
      const error = await thrownBy(cause);
      expect(error).to.be.instanceOf(UnreadReference);
      expect(error).to.deep.include({ message: 'Cannot read what a trigger refers to', cause });
    }
  });

  it('ends with its signal, whatever had come', async () => {
    const ended = new Error('not the leader any more');
    expect(await thrownBy(apiError(404), AbortSignal.abort(ended))).to.equal(ended);
  });
});
