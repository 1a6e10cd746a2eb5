import { expect } from 'chai';
import { NamespaceBudget } from '#lib/kubernetes/informer/namespace-budget.ts';
import type { InformedKind } from '#lib/kubernetes/informer/shared-informers.ts';
import {
  CachedSchedules,
  readScalingSchedule,
} from '#lib/metrics-adapter/scaling-schedules/scaling-schedule.ts';

const ONCE = { type: 'OneTime', date: '2026-03-02T10:00:00Z', value: 1 };
const period = { startTime: '08:00', days: ['Mon'], timezone: 'UTC' };

function read(spec: object) {
  return readScalingSchedule({ metadata: { name: 'a', namespace: 'n' }, spec }, 'ScalingSchedule');
}

describe('readScalingSchedule', () => {
  it('reads all fields of a schedule', () => {
    const schedules = [
      { ...ONCE, endDate: '2026-03-02T12:00:00+01:00', durationMinutes: 5 },
      { type: 'Repeating', value: 7, period: { ...period, endTime: '09:30' } },
    ];
    expect(read({ scalingWindowDurationMinutes: 3, schedules })).to.deep.equal({
      ...{ kind: 'ScalingSchedule', namespace: 'n', name: 'a', windowMs: 180_000, isActive: undefined },
      entries: [
        {
          type: 'OneTime',
          startMs: Date.UTC(2026, 2, 2, 10),
          endMs: Date.UTC(2026, 2, 2, 11),
          ...{ value: 1, durationMs: 300_000 },
        },
        {
          type: 'Repeating',
          startOfDayMs: 8 * 3_600_000,
          endOfDayMs: 9.5 * 3_600_000,
          days: new Set([1]),
          timeZone: 'UTC',
          ...{ value: 7, durationMs: 0 },
        },
      ],
    });
    expect(read({ schedules: [] })).to.deep.include({ windowMs: undefined, entries: [] });
  });

  for (const [what, spec, message] of [
    ['no schedules', {}, 'spec.schedules'],
    [
      'a negative window',
      { scalingWindowDurationMinutes: -1, schedules: [] },
      'scalingWindowDurationMinutes',
    ],
    ['an unknown type', { schedules: [{ ...ONCE, type: 'Weekly' }] }, 'spec.schedules.0'],
    ['a date that is none', { schedules: [{ ...ONCE, date: 'soon' }] }, 'spec.schedules.0.date'],
    ['a one-time entry without a date', { schedules: [{ type: 'OneTime', value: 1 }] }, 'schedules.0.date'],
    ['a repeating entry without a period', { schedules: [{ type: 'Repeating', value: 1 }] }, '0.period'],
    ['a value that is no whole number', { schedules: [{ ...ONCE, value: 1.5 }] }, 'schedules.0.value'],
    ['a negative duration', { schedules: [{ ...ONCE, durationMinutes: -1 }] }, 'durationMinutes'],
    ['a time that is none', repeating({ startTime: '24:00' }), 'startTime'],
    ['a day that is none', repeating({ days: ['Monday'] }), 'days'],
    ['too many values, without reading them', { schedules: Array(20_000).fill(7) }, 'more than 20000 values'],
    ['entries beyond the bound', { schedules: Array(1001).fill(ONCE) }, 'spec.schedules'],
  ] as const)
    it(`refuses ${what}, naming the field`, () => {
      expect(() => read(spec)).to.throw(message);
    });
});

function repeating(change: object): object {
  return { schedules: [{ type: 'Repeating', value: 1, period: { ...period, ...change } }] };
}

describe('CachedSchedules', () => {
  it('bounds the entries of a namespace', () => {
    const kinds: InformedKind<unknown>[] = [];
    const get = (kind: InformedKind<unknown>) => void kinds.push(kind);
    expect(new CachedSchedules({ informers: { get } as never, relistMs: 0 })).to.be.an('object');
    const within = new NamespaceBudget<unknown>(kinds[0]?.budget ?? expect.fail('there is no budget'));
    const once = { type: 'OneTime', date: '2026-03-02T10:00:00Z', value: 1 };
    const cached = (name: string, namespace = 'default') => {
      const value = {
        metadata: { name, namespace },
        spec: { schedules: Array.from({ length: 1000 }, () => once) },
      };
      return within.fit(`${namespace}/${name}`, readScalingSchedule(value, 'ScalingSchedule'));
    };
    for (let index = 0; index < 50; index++) expect(cached(`web-${index}`)).to.have.property('entries');
    expect(cached('web-50'))
      .to.have.nested.property('error.message')
      .that.includes('more than 50000 items in spec.schedules');
    expect(cached('web', 'other')).to.have.property('entries');
  });
});
