import { expect } from 'chai';
import { withoutEmpty } from '#lib/scaled-objects/statuses/without-empty.ts';

describe('withoutEmpty', () => {
  it('leaves out what is empty, at any depth of objects, and keeps zeros', () => {
    const status = {
      ...{ authenticationsTypes: '', triggersTypes: 'cron', resourceMetricNames: [], names: ['a'] },
      ...{ scaleTargetGVKR: { group: '', version: 'v1' }, triggersActivity: {}, hpaName: undefined },
      ...{ health: { a: { numberOfFailures: 0 } }, activity: { a: { isActive: false } } },
    };
    expect(withoutEmpty(status)).to.deep.equal({
      ...{ triggersTypes: 'cron', names: ['a'], scaleTargetGVKR: { version: 'v1' } },
      ...{ health: { a: { numberOfFailures: 0 } }, activity: { a: { isActive: false } } },
    });
  });
});
