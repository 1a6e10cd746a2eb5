import { expect } from 'chai';
import { tellStarted } from '#lib/scaled-objects/plan/tell-started.ts';

describe('tellStarted', () => {
  it('warns of keys that mean nothing, and of what an authentication refers to that is not there', () => {
    const warnings: string[] = [];
    tellStarted(
      [
        {
          ...{ index: 0, type: 'redis', name: 'jobs', isCached: false, unmatched: ['lenght'] },
          missing: ['TriggerAuthentication "ta": Secret default/login not found'],
          ...{ metrics: [], resource: undefined, push: undefined, error: undefined },
        },
      ],
      { normal: () => {}, warning: (reason, note) => void warnings.push(`${reason} ${note}`) },
    );
    expect(warnings).to.deep.equal([
      'KEDAScalerInfo Unmatched input property lenght in scaler redis (jobs)',
      'KEDAScalerInfo Scaler redis (jobs) is asked with an empty parameter, TriggerAuthentication "ta": Secret default/login not found',
    ]);
  });
});
