import { expect } from 'chai';
import {
  ApiError,
  apiErrorOf,
  isAlreadyExists,
  isConflict,
  isExpired,
  isNotFound,
  serverWords,
} from '#lib/kubernetes/client/api-error.ts';

describe('apiErrorOf', () => {
  const status = (facts: object) => JSON.stringify({ kind: 'Status', ...facts });

  it('returns message, reason and delay of a Status', () => {
    const body = status({ message: 'busy', reason: 'TooManyRequests', details: { retryAfterSeconds: 3 } });
    expect(apiErrorOf('Cannot list', { statusCode: 429, body })).to.include({
      name: 'ApiError',
      message: 'Cannot list: busy (status 429)',
      reason: 'TooManyRequests',
      statusCode: 429,
      retryAfterMs: 3000,
    });
  });

  it('prefers the delay of the header', () => {
    const body = status({ details: { retryAfterSeconds: 3 } });
    expect(apiErrorOf('', { statusCode: 429, body, retryAfter: '5' }).retryAfterMs).to.equal(5000);
  });

  it('returns no delay for a date in the header', () => {
    const retryAfter = 'Sat, 21 Nov 2026 09:25:43 GMT';
    expect(apiErrorOf('', { statusCode: 503, body: '', retryAfter }).retryAfterMs).to.equal(undefined);
  });

  it('returns no delay for a negative or invalid header, and Infinity for a huge one', () => {
    for (const retryAfter of [
      '-5',
      '',
      ' ',
      '1e9',
      '0x10',
      '5, 7',
      'soon',
      'NaN',
      'Infinity',
      `${'1'.repeat(16_000)}s`,
    ])
      expect(apiErrorOf('', { statusCode: 429, body: '', retryAfter }).retryAfterMs, retryAfter).to.equal(
        undefined,
      );
    const retryAfter = '9'.repeat(16_000); // clients wait no longer than their own maximum
    expect(apiErrorOf('', { statusCode: 429, body: '', retryAfter }).retryAfterMs).to.equal(
      Number.POSITIVE_INFINITY,
    );
  });

  it('makes do with a response that is no Status', () => {
    for (const body of ['', '[]', 'null', '{"kind":"Status","message":7}', '{"kind":"Pod","message":"x"}']) {
      const error = apiErrorOf('Cannot list', { statusCode: 500, body });
      expect(error.message).to.equal(`Cannot list: ${body === '' ? 'no reason given' : body} (status 500)`);
      expect(error.reason).to.equal(undefined);
    }
  });
});

describe('isExpired', () => {
  it('compares status and reason', () => {
    const facts = { statusCode: 410, reason: undefined, retryAfterMs: undefined };
    expect(isExpired(new ApiError('', facts))).to.equal(true);
    expect(isExpired(new ApiError('', { ...facts, statusCode: 500, reason: 'Expired' }))).to.equal(true);
    expect(isExpired(new ApiError('', { ...facts, statusCode: 404 }))).to.equal(false);
    expect(isExpired(new Error('410'))).to.equal(false);
  });
});

describe('isConflict, isAlreadyExists and isNotFound', () => {
  it('distinguish a changed object from an existing and a missing one', () => {
    const judge = (statusCode: number, reason?: string) => {
      const error = new ApiError('', { statusCode, reason, retryAfterMs: undefined });
      return [isConflict(error), isAlreadyExists(error), isNotFound(error)];
    };
    expect(judge(409, 'Conflict')).to.deep.equal([true, false, false]);
    expect(judge(409)).to.deep.equal([true, false, false]);
    expect(judge(409, 'AlreadyExists')).to.deep.equal([false, true, false]);
    expect(judge(404, 'NotFound')).to.deep.equal([false, false, true]);
    expect(judge(422, 'AlreadyExists')).to.deep.equal([false, false, false]);
    const other = Object.assign(new Error('409'), { statusCode: 409, reason: 'AlreadyExists' });
    expect([isConflict(other), isAlreadyExists(other), isNotFound(other)]).to.deep.equal([
      false,
      false,
      false,
    ]);
  });
});

const CUSTOM = { resource: 'services', group: 'custom.metrics.k8s.io' };

describe('serverWords', () => {
  it('are those of the server’s Status', () => {
    const body = JSON.stringify({ kind: 'Status', message: 'no such metric' });
    expect(serverWords(apiErrorOf('Cannot get', { statusCode: 404, body }), CUSTOM)).to.equal(
      'no such metric',
    );
  });

  it('is that of Kubernetes’ client with the request where there is none', () => {
    const failed = (statusCode: number) => apiErrorOf('Cannot get', { statusCode, body: '' });
    expect(serverWords(failed(404), { ...CUSTOM, name: 'web' })).to.equal(
      'the server could not find the requested resource (get services.custom.metrics.k8s.io web)',
    );
    expect(serverWords(failed(503), { resource: 'pods', group: 'metrics.k8s.io' })).to.equal(
      'the server is currently unable to handle the request (get pods.metrics.k8s.io)',
    );
    expect(serverWords(failed(404), { resource: 'scale', group: '' })).to.equal(
      'the server could not find the requested resource (get scale)',
    );
  });

  it('is that of Kubernetes’ client for each status', () => {
    const message = [400, 401, 404, 405, 406, 429, 503, 504].map((statusCode) =>
      serverWords(apiErrorOf('Cannot get', { statusCode, body: '' }), CUSTOM).replace(/ \(get .*/, ''),
    );
    expect(message).to.deep.equal([
      'the server rejected our request for an unknown reason',
      'the server has asked for the client to provide credentials',
      'the server could not find the requested resource',
      'the server does not allow this method on the requested resource',
      'the server was unable to respond with a content type that the client supports',
      'the server has received too many requests and has asked us to try again later',
      'the server is currently unable to handle the request',
      'the server was unable to return a response in the time allotted, but may still be processing the request',
    ]);
  });

  it('are ours for all else', () => {
    const error = apiErrorOf('Cannot get it', { statusCode: 502, body: 'proxy' });
    expect(serverWords(error, CUSTOM)).to.equal('Cannot get it: proxy (status 502)');
    expect(serverWords(new Error('connection refused'), CUSTOM)).to.equal('connection refused');
  });
});
