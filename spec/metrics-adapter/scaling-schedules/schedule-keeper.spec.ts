import { expect } from 'chai';
import { readScalingSchedule } from '#lib/metrics-adapter/scaling-schedules/read-scaling-schedule.ts';
import type { ScalingSchedule } from '#lib/metrics-adapter/scaling-schedules/scaling-schedule.ts';
import {
  ScheduleKeeper,
  type ScheduleKeeperOptions,
} from '#lib/metrics-adapter/scaling-schedules/schedule-keeper.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

const { signal } = new AbortController();

describe('ScheduleKeeper', () => {
  it('tells of what fails, however many schedules and HPAs failed that are gone', async () => {
    const system = setUp();
    system.followed.schedules = Array.from({ length: 600 }, (_, index) => scheduleThatIsOver(`old-${index}`));
    system.followed.hpas = Array.from({ length: 500 }, (_, index) => hpaOf('always', `old-${index}`));
    system.followed.schedules.push(scheduleThatCounts('always'));
    await system.keeper.look(signal);
    expect(system.told()).to.have.lengthOf(750); // of more at once, the others are not told
    system.followed.schedules = [scheduleThatIsOver('new')];
    system.followed.hpas = [];
    await system.keeper.look(signal);
    await system.keeper.look(signal);
    expect(system.told().slice(750)).to.deep.equal([
      { controller: 'scaling-schedule', key: 'ScalingSchedule default/new', err: 'nobody listens' },
    ]);
  });
});

/** Its status says that it counts still. */
function scheduleThatIsOver(name: string): ScalingSchedule {
  const value = {
    metadata: { name, namespace: 'default' },
    spec: { schedules: [] },
    status: { active: true },
  };
  return readScalingSchedule(value, 'ScalingSchedule');
}

/** Its status says so, too. */
function scheduleThatCounts(name: string): ScalingSchedule {
  const once = { type: 'OneTime', date: '2026-03-02T10:00:00Z', durationMinutes: 15, value: 100 };
  const spec = { schedules: [once], scalingWindowDurationMinutes: 0 };
  const value = { metadata: { name, namespace: 'default' }, spec, status: { active: true } };
  return readScalingSchedule(value, 'ScalingSchedule');
}

function hpaOf(schedule: string, name: string) {
  return {
    ...{ namespace: 'default', name, uid: name, maxReplicas: 10 },
    target: { apiVersion: 'apps/v1', kind: 'Deployment', name },
    schedules: [{ kind: 'ScalingSchedule', key: `default/${schedule}`, averageValue: 10 }] as const,
  };
}

/** A keeper whose API server does not respond. */
function setUp() {
  const logger = new RecordingLogger();
  const fail = async () => {
    throw new Error('nobody listens');
  };
  const followed = { schedules: [] as ScalingSchedule[], hpas: [] as ReturnType<typeof hpaOf>[] };
  const keeper = new ScheduleKeeper({
    client: { getJson: fail } as unknown as ScheduleKeeperOptions['client'],
    scales: { get: fail } as unknown as ScheduleKeeperOptions['scales'],
    events: { record: () => {} },
    ...{ clock: new ManualClock(Date.parse('2026-03-02T10:05:00Z')), logger, tolerance: 0.1 },
    schedules: { values: () => followed.schedules },
    hpas: { values: () => followed.hpas },
    defaults: { windowMs: 600_000, rampSteps: 10, timeZone: 'UTC' },
  });
  return { followed, keeper, told: () => logger.lines.map(({ fields }) => fields) };
}
