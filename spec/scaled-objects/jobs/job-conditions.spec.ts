import { expect } from 'chai';
import {
  JOB_CONDITIONS,
  jobCheckFailed,
  withJobConditions,
} from '#lib/scaled-objects/jobs/job-conditions.ts';

describe('JOB_CONDITIONS', () => {
  it('say what KEDA says', () => {
    const told = Object.entries(JOB_CONDITIONS).map(
      ([name, { type, status, reason, message }]) => `${name}: ${type} ${status} ${reason} ${message}`,
    );
    expect(told).to.deep.equal([
      'ready: Ready True ScaledJobReady ScaledJob is defined correctly and is ready for scaling',
      'readyPaused: Ready True ScaledJobReady ScaledJob is paused, skipping reconcile loop',
      'partialError: Ready Unknown PartialTriggerError Some triggers defined in ScaledJob are not working correctly',
      'triggerError: Ready False TriggerError Triggers defined in ScaledJob are not working correctly',
      'active: Active True ScalerActive Scaling is performed because triggers are active',
      'notActive: Active False ScalerNotActive Scaling is not performed because triggers are not active',
      'activePaused: Active Unknown ScaledJobPaused ScaledJob is paused',
      'paused: Paused True ScaledJobPaused ScaledJob is paused',
      'unpaused: Paused False ScaledJobUnpaused ScaledJob is unpaused',
    ]);
    expect(jobCheckFailed('it is odd')).to.deep.equal([
      { type: 'Ready', status: 'False', reason: 'ScaledJobCheckFailed', message: 'it is odd' },
      { type: 'Active', status: 'Unknown', reason: 'UnknownState', message: 'ScaledJob check failed' },
    ]);
  });
});

describe('withJobConditions', () => {
  it('begins with what is not known, and keeps what is not told of, of other types, too', () => {
    const unknown = [
      { type: 'Ready', status: 'Unknown' },
      { type: 'Active', status: 'Unknown' },
      { type: 'Paused', status: 'False' },
    ] as const;
    expect(withJobConditions(undefined, [])).to.deep.equal(unknown);
    const [ready, active, paused] = unknown;
    const before = [
      { ...active, status: 'True' },
      { type: 'Own', status: 'True' },
    ] as const;
    const now = { ...ready, status: 'True' } as const;
    expect(withJobConditions(before, [now])).to.deep.equal([now, before[0], paused, before[1]]);
  });
});
