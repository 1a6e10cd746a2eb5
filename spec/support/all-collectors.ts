import { hostRateCollector } from '#lib/metrics-adapter/collectors/host-rate-collector.ts';
import { httpCollector } from '#lib/metrics-adapter/collectors/http-collector.ts';
import { influxdbCollector } from '#lib/metrics-adapter/collectors/influxdb-collector.ts';
import type { MetricCollector } from '#lib/metrics-adapter/collectors/metric-collector.ts';
import { nakadiCollector } from '#lib/metrics-adapter/collectors/nakadi-collector.ts';
import { podsCollector } from '#lib/metrics-adapter/collectors/pods-collector.ts';
import { prometheusCollector } from '#lib/metrics-adapter/collectors/prometheus-collector.ts';
import { scalingScheduleCollector } from '#lib/metrics-adapter/collectors/scaling-schedule-collector.ts';
import { skipperCollector } from '#lib/metrics-adapter/collectors/skipper-collector.ts';
import { type SqlCollectorOptions, sqlCollector } from '#lib/metrics-adapter/collectors/sql-collector.ts';
import { sqsCollector } from '#lib/metrics-adapter/collectors/sqs-collector.ts';
import { zmonCollector } from '#lib/metrics-adapter/collectors/zmon-collector.ts';
import type { FoundSchedules } from '#lib/metrics-adapter/scaling-schedules/scaling-schedule.ts';
import { TargetPods } from '#lib/metrics-adapter/targets/target-pods.ts';
import { HttpClients } from '#lib/sources/http/http-clients.ts';
import { InfluxdbServer } from '#lib/sources/http-apis/influxdb-server.ts';
import { NakadiServer } from '#lib/sources/http-apis/nakadi-server.ts';
import { PrometheusServer } from '#lib/sources/http-apis/prometheus-server.ts';
import { type AwsCredentials, SqsRegion } from '#lib/sources/http-apis/sqs-queue.ts';
import { ZmonServer } from '#lib/sources/http-apis/zmon-server.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import type { Clock } from '#lib/time/clock.ts';

/** Addresses of the sources that the collectors query. */
export interface AllCollectorsOptions {
  readonly clock: Clock;
  /** Takes ownership of what must be disposed. */
  readonly stack: AsyncDisposableStack;
  /** URL of every HTTP source. */
  readonly url: URL;
  /** SQS in `eu-central-1`; by default at `url`. */
  readonly sqs?: { readonly url: URL; readonly credentials: AwsCredentials };
  readonly sqlSources?: SqlCollectorOptions['sources'];
  /** By default, there are none. */
  readonly schedules?: FoundSchedules;
}

/** One collector of each type, with one pod at 127.0.0.1 and one Ingress host, `shop.example.org`. */
export function allCollectors(options: AllCollectorsOptions): readonly MetricCollector[] {
  const { clock, stack, url, sqs, sqlSources = new Map(), schedules = { find: () => undefined } } = options;
  const allowedHosts = new AllowedHosts(['127.0.0.1']);
  const clients = stack.use(new HttpClients({ clock, allowedHosts, userAgent: 'spec' }));
  const http = clients.find();
  const server = new PrometheusServer({ http, url });
  const { credentials = { accessKeyId: 'key', secretAccessKey: 'secret' }, url: endpoint = url } = sqs ?? {};
  const region = stack.use(new SqsRegion({ http, region: 'eu-central-1', endpoint, credentials }));
  const pod = { namespace: 'default', name: 'a', uid: 'u', labels: {}, ip: '127.0.0.1', readySinceMs: 0 };
  const pods = new TargetPods({ start() {}, find: () => pod, findBy: () => [pod], synced: async () => {} });
  return [
    prometheusCollector({ server, additionalServers: new Map([['other', server]]), clients }),
    httpCollector({ clients }),
    podsCollector({
      ...{ clock, clients, pods, defaultIntervalMs: 60_000 },
      selectors: { selectorOf: async () => '!absent' },
    }),
    skipperCollector({
      server,
      client: { getJson: async () => ({ metadata: {}, spec: { rules: [{ host: 'shop.example.org' }] } }) },
      mapper: {
        find: async ({ kind }) => ({ group: 'g', version: 'v1', kind, plural: 'things', namespaced: true }),
      },
      ...{ ingresses: true, routeGroups: true, backendsAnnotations: [] },
    }),
    hostRateCollector({ server, series: 'requests' }),
    influxdbCollector({
      clients,
      server: ({ organization: org = 'shop' }) => new InfluxdbServer({ http, url, org }),
    }),
    sqsCollector({ regions: new Map([['eu-central-1', region]]) }),
    zmonCollector({ server: new ZmonServer({ http, url }) }),
    nakadiCollector({ server: new NakadiServer({ http, url }) }),
    sqlCollector({ sources: sqlSources }),
    scalingScheduleCollector({
      ...{ schedules, clock },
      defaults: { windowMs: 600_000, rampSteps: 10, timeZone: 'Europe/Berlin' },
    }),
  ];
}
