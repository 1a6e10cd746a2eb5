import { expect } from 'chai';
import { scalerName } from '#lib/scaled-objects/triggers/scaler-names.ts';
import { everyTrigger } from '#spec/support/every-trigger.ts';

describe('scalerName', () => {
  it('is the name of a trigger, or what KEDA calls those of its type', () => {
    expect(scalerName({ name: 'queue', type: 'redis' })).to.equal('queue');
    expect(scalerName({ name: '', type: 'redis' })).to.equal('redisScaler');
    const names = everyTrigger()
      .flatMap(({ types }) => types)
      .map((type) => `${type} ${scalerName({ name: undefined, type })}`);
    expect(names.sort()).to.deep.equal([
      'aws-sqs-queue awsSqsQueueScaler',
      'cpu cpuMemoryScaler',
      'cron cronScaler',
      'external externalScaler',
      'external-push externalPushScaler',
      'influxdb influxDBScaler',
      'kubernetes-workload kubernetesWorkloadScaler',
      'memory cpuMemoryScaler',
      'metrics-api metricsAPIScaler',
      'mysql mySQLScaler',
      'nats-jetstream natsJetStreamScaler',
      'postgresql postgreSQLScaler',
      'prometheus prometheusScaler',
      'rabbitmq rabbitMQScaler',
      'redis redisScaler',
      'redis-cluster redisScaler',
      'redis-cluster-streams redisStreamsScaler',
      'redis-sentinel redisScaler',
      'redis-sentinel-streams redisStreamsScaler',
      'redis-streams redisStreamsScaler',
    ]);
  });

  it('is made of a type that nobody knows', () => {
    expect(scalerName({ name: undefined, type: 'kafka' })).to.equal('kafkaScaler');
    expect(scalerName({ name: undefined, type: 'toString' })).to.equal('toStringScaler');
  });
});
