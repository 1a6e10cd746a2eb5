import { expect } from 'chai';
import { serverWords } from '#lib/hpa/readings/server-words.ts';
import { apiErrorOf } from '#lib/kubernetes/client/api-error.ts';

const CUSTOM = { resource: 'services', group: 'custom.metrics.k8s.io' };

describe('serverWords', () => {
  it('are those of the server’s Status', () => {
    const body = JSON.stringify({ kind: 'Status', message: 'no such metric' });
    expect(serverWords(apiErrorOf('Cannot get', { statusCode: 404, body }), CUSTOM)).to.equal(
      'no such metric',
    );
  });

  it('are those of Kubernetes’ client where there is none, with what was asked for', () => {
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

  it('are of each status what Kubernetes’ client says of it', () => {
    const said = [400, 401, 404, 405, 406, 429, 503, 504].map((statusCode) =>
      serverWords(apiErrorOf('Cannot get', { statusCode, body: '' }), CUSTOM).replace(/ \(get .*/, ''),
    );
    expect(said).to.deep.equal([
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
