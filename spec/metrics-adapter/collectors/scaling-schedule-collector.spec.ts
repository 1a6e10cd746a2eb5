import { expect } from 'chai';
import type { HpaMetric } from '#lib/metrics-adapter/collected-metrics.ts';
import { scalingScheduleCollector } from '#lib/metrics-adapter/collectors/scaling-schedule-collector.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const { signal } = new AbortController();
const NOW_MS = Date.UTC(2026, 2, 2, 10);

describe('scalingScheduleCollector', () => {
  for (const [apiVersion, kind, is] of [
    ['zalando.org/v1', 'ScalingSchedule', true],
    ['zalando.org/v1', 'ClusterScalingSchedule', true],
    ['zalando.org/v2', 'ScalingSchedule', true],
    ['zalando.org/v1', 'Stack', false],
    ['example.org/v1', 'ScalingSchedule', false],
    [undefined, 'ScalingSchedule', false],
  ] as const)
    it(`${is ? 'claims' : 'leaves'} metrics of ${kind} of ${apiVersion}`, () => {
      expect(setUp().collector.claims?.(metric(apiVersion, kind))).to.equal(is);
    });

  it('finds a schedule in the namespace of the HPA, and a cluster schedule in none', async () => {
    const { collector, requested } = setUp();
    for (const kind of ['ScalingSchedule', 'ClusterScalingSchedule']) {
      const query = queryOf(collector, metric('zalando.org/v1', kind));
      expect(await query.run(signal)).to.deep.equal([{ value: 100, labels: {}, takenAtMs: NOW_MS }]);
    }
    expect(requested).to.deep.equal(['ScalingSchedule shop/nightly', 'ClusterScalingSchedule nightly']);
  });

  it('has a description and key for each schedule', () => {
    const { collector } = setUp();
    const [own, ofCluster] = ['ScalingSchedule', 'ClusterScalingSchedule'].map((kind) =>
      queryOf(collector, metric('zalando.org/v1', kind)),
    );
    expect(own).to.include({ description: 'ScalingSchedule shop/nightly', source: 'scaling-schedules' });
    expect(ofCluster?.description).to.equal('ClusterScalingSchedule nightly');
    expect(own?.key).to.not.equal(ofCluster?.key);
  });

  it('reports a missing schedule, and the kinds of schedules', async () => {
    const { collector, found } = setUp();
    found.schedule = undefined;
    const query = queryOf(collector, metric('zalando.org/v1', 'ScalingSchedule'));
    expect(await errorOf(query.run(signal))).to.equal('referenced ScalingSchedule not found');
    expect(() => queryOf(collector, metric('v1', 'Service'))).to.throw(
      'The described object must be a ScalingSchedule or ClusterScalingSchedule of zalando.org/v1',
    );
  });
});

function metric(apiVersion: string | undefined, kind: string): HpaMetric {
  const describedObject = { ...(apiVersion !== undefined && { apiVersion }), kind, name: 'nightly' };
  return { type: 'Object', name: 'load', matchLabels: {}, describedObject };
}

function queryOf(collector: ReturnType<typeof scalingScheduleCollector>, of: HpaMetric) {
  return collector.queryOf({
    hpa: { namespace: 'shop', name: 'web' },
    metric: of,
    config: undefined,
  } as never);
}

/** Schedules of any name with a value of 100 now. */
function setUp() {
  const requested: string[] = [];
  const entry = { type: 'OneTime', startMs: NOW_MS, endMs: undefined, durationMs: 1, value: 100 } as const;
  const found: { schedule: object | undefined } = { schedule: { entries: [entry], windowMs: 0 } };
  const collector = scalingScheduleCollector({
    schedules: {
      find: (kind, key) => {
        requested.push(`${kind} ${key}`);
        return found.schedule as never;
      },
    },
    clock: new ManualClock(NOW_MS),
    defaults: { windowMs: 600_000, rampSteps: 10, timeZone: 'UTC' },
  });
  return { collector, requested, found };
}
