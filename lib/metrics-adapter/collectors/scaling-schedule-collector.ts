import { z } from 'zod';
import type { Clock } from '#lib/time/clock.ts';
import type { HpaMetric } from '../collected-metrics.ts';
import {
  type FoundSchedules,
  keyOfSchedule,
  SCALING_SCHEDULES,
  type ScalingScheduleKind,
} from '../scaling-schedules/scaling-schedule.ts';
import { type ScheduleDefaults, scheduledValue } from '../scaling-schedules/scheduled-value.ts';
import type { MetricCollector } from './metric-collector.ts';

interface ScalingScheduleCollectorOptions {
  readonly schedules: FoundSchedules;
  readonly defaults: ScheduleDefaults;
  readonly clock: Clock;
}

/** Values by time: of metrics whose object is a ScalingSchedule or ClusterScalingSchedule, without annotations. */
export function scalingScheduleCollector(options: ScalingScheduleCollectorOptions): MetricCollector {
  const { schedules, defaults, clock } = options;
  return {
    name: 'scaling-schedule',
    legacyMetrics: [],
    types: ['Object'],
    settings: z.object({}),
    claims: (metric) => kindOf(metric) !== undefined,
    queryOf({ hpa, metric }) {
      const kind = kindOf(metric);
      const { name = '' } = metric.describedObject ?? {};
      if (!kind) {
        const kinds = SCALING_SCHEDULES.kinds.join(' or ');
        throw new Error(`The described object must be a ${kinds} of ${SCALING_SCHEDULES.apiVersion}`);
      }
      const namespace = kind === 'ScalingSchedule' ? hpa.namespace : '';
      const key = keyOfSchedule({ namespace, name });
      return {
        key: JSON.stringify(['scaling schedule', kind, key]),
        description: `${kind} ${key}`,
        source: 'scaling-schedules',
        async run() {
          const schedule = schedules.find(kind, key);
          if (!schedule) throw new Error(`referenced ${kind} not found`);
          const nowMs = clock.nowMs();
          return [{ value: scheduledValue(schedule, nowMs, defaults).value, labels: {}, takenAtMs: nowMs }];
        },
      };
    },
  };
}

/** The kind of the metric's object, in any version of its group. */
function kindOf({ describedObject }: HpaMetric): ScalingScheduleKind | undefined {
  const { apiVersion = '', kind } = describedObject ?? {};
  const [group] = SCALING_SCHEDULES.apiVersion.split('/');
  if (apiVersion.split('/')[0] !== group) return undefined;
  return SCALING_SCHEDULES.kinds.find((one) => one === kind);
}
