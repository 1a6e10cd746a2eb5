import { expect } from 'chai';
import { failureMessage, successMessage } from '#lib/cron-hpa/statuses/activation-message.ts';

const TIMES = {
  atMs: Date.parse('2019-12-18T15:00:00Z'),
  nextMs: Date.parse('2019-12-18T15:07:00Z'),
  timeZone: 'Asia/Shanghai',
};

describe('successMessage', () => {
  it('has the form that users know', () => {
    expect(
      successMessage({
        job: 'scale-down',
        namespace: 'default',
        target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        adjustType: 'scale replicas',
        current: 3,
        desired: 3,
        ...TIMES,
      }),
    ).to.equal(
      'cron hpa job scale-down executed successfully. current scale (namespace:default;kind: Deployment;name: web) ' +
        'replicas:3, desired scale replicas:3,adjustType:[scale replicas]. time:2019-12-18 23:00:00, next:2019-12-18 23:07:00',
    );
  });
});

describe('messages of activations', () => {
  it('have no control characters of others', () => {
    const told = failureMessage({ job: 'up\u001b[2J', reason: 'no\u0007', ...TIMES });
    expect(told).to.match(/^cron hpa job up\\u001b\[2J failed to execute, because of no\\u0007\. time:/);
  });
});

describe('failureMessage', () => {
  it('tells why, and when there is no next activation', () => {
    expect(failureMessage({ job: 'once', reason: 'no such target', ...TIMES, nextMs: undefined })).to.equal(
      'cron hpa job once failed to execute, because of no such target. time:2019-12-18 23:00:00, next:none',
    );
  });
});
