import { getOwn } from '#lib/kubernetes/get-own.ts';

/** What dashboards know triggers without a name by. */
const NAMES: Readonly<Record<string, string>> = {
  'aws-sqs-queue': 'awsSqsQueueScaler',
  cpu: 'cpuMemoryScaler',
  cron: 'cronScaler',
  external: 'externalScaler',
  'external-push': 'externalPushScaler',
  influxdb: 'influxDBScaler',
  'kubernetes-workload': 'kubernetesWorkloadScaler',
  memory: 'cpuMemoryScaler',
  'metrics-api': 'metricsAPIScaler',
  mysql: 'mySQLScaler',
  'nats-jetstream': 'natsJetStreamScaler',
  postgresql: 'postgreSQLScaler',
  prometheus: 'prometheusScaler',
  rabbitmq: 'rabbitMQScaler',
  redis: 'redisScaler',
  'redis-cluster': 'redisScaler',
  'redis-cluster-streams': 'redisStreamsScaler',
  'redis-sentinel': 'redisScaler',
  'redis-sentinel-streams': 'redisStreamsScaler',
  'redis-streams': 'redisStreamsScaler',
};

/** The label `scaler` of a trigger. */
export function scalerName({
  name,
  type,
}: {
  readonly name: string | undefined;
  readonly type: string;
}): string {
  return name || (getOwn(NAMES, type) ?? `${type}Scaler`);
}
