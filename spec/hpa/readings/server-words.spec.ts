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

  it('are ours for all else', () => {
    const error = apiErrorOf('Cannot get it', { statusCode: 502, body: 'proxy' });
    expect(serverWords(error, CUSTOM)).to.equal('Cannot get it: proxy (status 502)');
    expect(serverWords(new Error('connection refused'), CUSTOM)).to.equal('connection refused');
  });
});
