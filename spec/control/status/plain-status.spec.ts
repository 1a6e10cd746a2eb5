import { expect } from 'chai';
import { plainStatus } from '#lib/control/status/plain-status.ts';

describe('plainStatus', () => {
  it('leaves out what is empty, at any depth, and keeps zeros and the places of a list', () => {
    const status = {
      ...{ authenticationsTypes: '', triggersTypes: 'cron', resourceMetricNames: [], names: ['a', ''] },
      ...{ scaleTargetGVKR: { group: '', version: 'v1' }, triggersActivity: {}, hpaName: undefined },
      ...{ health: { a: { numberOfFailures: 0 } }, activity: { a: { isActive: false } }, none: null },
      ...{ conditions: [{ type: 'Ready', message: '' }], deep: { deeper: { deepest: '' } } },
    };
    expect(plainStatus(status)).to.deep.equal({
      ...{ triggersTypes: 'cron', names: ['a', ''], scaleTargetGVKR: { version: 'v1' } },
      ...{ health: { a: { numberOfFailures: 0 } }, activity: { a: { isActive: false } } },
      ...{ conditions: [{ type: 'Ready' }] },
    });
    expect(plainStatus(undefined)).to.deep.equal({});
  });
});
