import { expect } from 'chai';
import type { ObjectCondition } from '#lib/scaled-objects/api/conditions.ts';
import {
  JOB_CONDITIONS,
  jobCheckFailed,
  pausedStatus,
  recordChanges,
  recordPaused,
  statusOf,
} from '#lib/scaled-objects/jobs/scaled-job-status.ts';
import { compileScaledJob } from '#lib/scaled-objects/preparation/prepared-scaled-job.ts';

describe('JOB_CONDITIONS', () => {
  it('have the texts of KEDA', () => {
    const reported = Object.entries(JOB_CONDITIONS).map(
      ([name, { type, status, reason, message }]) => `${name}: ${type} ${status} ${reason} ${message}`,
    );
    expect(reported).to.deep.equal([
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

const NOW_MS = Date.UTC(2026, 0, 1, 12);
const NOW = '2026-01-01T12:00:00Z';
const MADE = { isActive: true, ready: 'ready', triggersActivity: {}, nowMs: NOW_MS } as const;

describe('statusOf', () => {
  it('describes the triggers and the other fields', () => {
    const triggers = [
      { type: 'cron', metadata: {}, authenticationRef: { name: 'key' } },
      { type: 'redis', metadata: {}, authenticationRef: { name: 'key' } },
      { type: 'cron', metadata: {} },
    ];
    const status = statusAfter({ kept: 1 }, MADE, { triggers, names: ['s0-a', 's1-b'] });
    expect(status).to.deep.include({
      ...{ kept: 1, lastActiveTime: NOW, Paused: 'false', triggersTypes: 'cron,redis' },
      ...{ authenticationsTypes: 'key', externalMetricNames: ['s0-a', 's1-b'], triggersActivity: {} },
    });
    expect(reported(status.conditions)).to.deep.equal([
      ...['Ready True ScaledJobReady', 'Active True ScalerActive', 'Paused False '],
    ]);
  });

  for (const [what, isActive, written, lastActiveTime] of [
    ['the first time', true, undefined, NOW],
    ['a minute after it was written', true, '2026-01-01T11:59:00Z', NOW],
    ['not before', true, '2026-01-01T11:59:01Z', '2026-01-01T11:59:01Z'],
    ['though a clock that was ahead has written that it will be', true, '2026-01-01T13:00:00Z', NOW],
    ['not while nothing is active', false, '2026-01-01T10:00:00Z', '2026-01-01T10:00:00Z'],
    ['not while nobody knows', undefined, '2026-01-01T10:00:00Z', '2026-01-01T10:00:00Z'],
    ['never, where nothing was', false, undefined, undefined],
  ] as const)
    it(`writes when it was active last ${what}`, () => {
      const before = written === undefined ? {} : { lastActiveTime: written };
      const status = statusAfter(before, { ...MADE, isActive });
      expect(status.lastActiveTime).to.equal(lastActiveTime);
    });

  it('reports its activity, and leaves the condition unchanged while it is unknown', () => {
    const before = { conditions: [condition('Active', 'True', 'ScalerActive')] };
    const active = (isActive: boolean | undefined) =>
      reported(statusAfter(before, { ...MADE, isActive }).conditions)[1];
    expect([active(true), active(false), active(undefined)]).to.deep.equal([
      ...['Active True ScalerActive', 'Active False ScalerNotActive', 'Active True ScalerActive'],
    ]);
  });

  it('is ready until a trigger is polled, unless one failed before', () => {
    const ready = (...conditions: readonly ObjectCondition[]) =>
      reported(statusAfter({ conditions }, { ...MADE, ready: undefined }).conditions)[0];
    expect(ready()).to.equal('Ready True ScaledJobReady');
    expect(ready(condition('Ready', 'False', 'ScaledJobCheckFailed'))).to.equal('Ready True ScaledJobReady');
    expect(ready(condition('Ready', 'False', 'TriggerError'))).to.equal('Ready False TriggerError');
    expect(ready(condition('Ready', 'Unknown', 'PartialTriggerError'))).to.equal(
      'Ready Unknown PartialTriggerError',
    );
  });

  it('reports the end of a pause', () => {
    const last = (...conditions: readonly ObjectCondition[]) =>
      reported(statusAfter({ conditions }, MADE).conditions).at(-1);
    expect(last(condition('Paused', 'True', 'ScaledJobPaused'))).to.equal('Paused False ScaledJobUnpaused');
    expect(last({ type: 'Paused', status: 'False' }, condition('Ready', 'True', 'x'))).to.equal(
      'Paused False ',
    );
  });
});

describe('pausedStatus', () => {
  it('reports the pause and no activity, and retains the other fields', () => {
    const { conditions, ...rest } = pausedStatus(job({ kept: 1, triggersActivity: { a: {} } }));
    expect(rest).to.deep.equal({ kept: 1, Paused: 'true' });
    expect(reported(conditions)).to.deep.equal([
      'Ready True ScaledJobReady',
      'Active Unknown ScaledJobPaused',
      'Paused True ScaledJobPaused',
    ]);
    expect(pausedStatus(job(undefined))).to.include({ Paused: 'true' });
  });
});

describe('recordPaused', () => {
  const paused = job({ conditions: [condition('Paused', 'True', 'ScaledJobPaused')] });
  const unpaused = job({ conditions: [condition('Paused', 'False', 'x'), condition('Ready', 'True', 'y')] });
  for (const [what, object, isPaused, events] of [
    ['that a pause begins', unpaused, true, ['ScaledJobPaused']],
    ['that the first begins', job({}), true, ['ScaledJobPaused']],
    ['that one ends', paused, false, ['ScaledJobUnpaused']],
    ['nothing while it goes on', paused, true, []],
    ['nothing while there is none', unpaused, false, []],
  ] as const)
    it(`reports ${what}`, () => {
      expect(eventsOf((own) => recordPaused(object, isPaused, own))).to.deep.equal(events);
    });
});

describe('recordChanges', () => {
  const at = (ready: 'True' | 'False', active: 'True' | 'False') => ({
    conditions: [condition('Ready', ready, 'r'), condition('Active', active, 'a')],
  });
  for (const [what, before, after, events] of [
    ['that it is ready', {}, at('True', 'False'), ['ScaledJobReady']],
    ['that it becomes active', at('True', 'False'), at('True', 'True'), ['ScaledJobActive']],
    ['that it ceases to be', at('True', 'True'), at('True', 'False'), ['ScaledJobInactive']],
    ['both', at('False', 'False'), at('True', 'True'), ['ScaledJobReady', 'ScaledJobActive']],
    ['nothing of what stays', at('True', 'True'), at('True', 'True'), []],
    ['nothing of what was not', {}, at('False', 'False'), []],
  ] as const)
    it(`reports ${what}`, () => {
      expect(eventsOf((own) => recordChanges(job(before), after as never, own))).to.deep.equal(events);
    });
});

function job(status: object | undefined, triggers: readonly object[] = []) {
  return { metadata: { name: 'work' }, spec: { triggers }, status } as never;
}

function statusAfter(
  before: object,
  made: object,
  { triggers = [], names = [] }: { triggers?: readonly object[]; names?: readonly string[] } = {},
) {
  const object = job(before, triggers);
  const plan = { triggers: [{ metrics: names.map((metricName) => ({ metricName })) }] };
  return statusOf(object, { ...made, plan, prepared: compileScaledJob(object) } as never);
}

function condition(type: string, status: ObjectCondition['status'], reason: string): ObjectCondition {
  return { type, status, reason };
}

function reported(conditions: readonly ObjectCondition[] = []): readonly string[] {
  return conditions.map(({ type, status, reason = '' }) => `${type} ${status} ${reason}`);
}

function eventsOf(report: (own: never) => void): readonly string[] {
  const events: string[] = [];
  report({ normal: (reason: string) => events.push(reason) } as never);
  return events;
}
