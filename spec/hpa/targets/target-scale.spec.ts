import { expect } from 'chai';
import { type Scale, UnscalableTarget } from '#lib/control/scale-client.ts';
import { readTargetScale, writeTargetScale } from '#lib/hpa/targets/target-scale.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { followedWeb } from '../auto-min/built-decision.ts';

const web = followedWeb({ minReplicas: 1 });
const { signal } = new AbortController();
const FORBIDDEN = new ApiError('Cannot do that', {
  ...{ statusCode: 503, reason: 'ServiceUnavailable', retryAfterMs: undefined },
});

describe('readTargetScale', () => {
  const read = (apiVersion: string, error: Error, ofSignal = signal) => {
    const scaleTargetRef = { apiVersion, kind: 'Till', name: 'web' };
    const scales = { get: () => Promise.reject(error) };
    return readTargetScale({ ...web, spec: { ...web.spec, scaleTargetRef } }, scales, {
      signal: ofSignal,
      isFresh: false,
    } as never);
  };

  it('tells why a target cannot be scaled in the words of Kubernetes, by the step that failed', async () => {
    const unknown = new UnscalableTarget('nothing serves its kind', 'UnknownKind');
    const unscalable = new UnscalableTarget('tills have no scale subresource', 'NoScaleSubresource');
    expect(await read('shop/v1/x', unknown)).to.deep.equal({
      step: 'api-version',
      message: 'unexpected GroupVersion string: shop/v1/x',
    });
    expect(await read('shop/v1', unknown)).to.deep.equal({
      step: 'kind',
      message: 'no matches for kind "Till" in group "shop"',
    });
    expect(await read('v1', unknown)).to.deep.equal({
      step: 'kind',
      message: 'no matches for kind "Till" in group ""',
    });
    expect(await read('shop/v1', unscalable)).to.deep.equal({
      step: 'scale',
      message: 'the server could not find the requested resource',
    });
    expect(await read('shop/v1', FORBIDDEN)).to.deep.equal({
      step: 'scale',
      message: 'the server is currently unable to handle the request (get scale)',
    });
  });

  it('takes the end of its term for no failure of the target', async () => {
    const ended = AbortSignal.abort(new Error('not the leader any more'));
    const failure = await read('shop/v1', FORBIDDEN, ended).catch((error: unknown) => error);
    expect(failure).to.have.property('message', 'not the leader any more');
  });
});

describe('writeTargetScale', () => {
  it('tells why the scale was not written, and nothing where it was', async () => {
    const write = (set: () => Promise<void>, ofSignal = signal) =>
      writeTargetScale({} as Scale, 3, {
        ...{ scales: { set } as never, signal: ofSignal },
        cause: { by: 'hpa web', why: 'external metric queue above target' },
      });
    expect(await write(async () => {})).to.equal(undefined);
    expect(await write(() => Promise.reject(FORBIDDEN))).to.match(/unable to handle the request/);
    const ended = AbortSignal.abort(new Error('not the leader any more'));
    const failure = await write(() => Promise.reject(FORBIDDEN), ended).catch((error: unknown) => error);
    expect(failure).to.have.property('message', 'not the leader any more');
  });
});
