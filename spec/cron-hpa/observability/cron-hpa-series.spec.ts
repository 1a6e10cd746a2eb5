import { expect } from 'chai';
import { Registry } from 'prom-client';
import { CronHpaSeries } from '#lib/cron-hpa/observability/cron-hpa-series.ts';

describe('CronHpaSeries', () => {
  it('counts activations and attempts, delays of successful ones only, and current objects', async () => {
    const registry = new Registry();
    const objects = { ready: 2, notReady: 1 };
    const series = new CronHpaSeries(registry, () => objects);
    const value = async (line: string) =>
      (await registry.metrics())
        .split('\n')
        .find((one) => one.startsWith(`${line} `))
        ?.split(' ')[1];
    expect(await value('cronhpa_activations_total{result="Succeed"}')).to.equal('0');
    expect(await value('cronhpa_activations_total{result="Failed"}')).to.equal('0');
    series.carriedOut('Succeed', 1500);
    series.carriedOut('Succeed', -40);
    series.carriedOut('Failed', 90_000);
    series.missed(3);
    series.missed(1);
    expect(await value('cronhpa_activations_total{result="Succeed"}')).to.equal('2');
    expect(await value('cronhpa_activations_total{result="Failed"}')).to.equal('1');
    expect(await value('cronhpa_activation_delay_seconds_count')).to.equal('2');
    expect(await value('cronhpa_activation_delay_seconds_sum')).to.equal('1.5');
    expect(await value('cronhpa_missed_activations_total')).to.equal('4');
    expect(await value('cronhpa_objects{ready="true"}')).to.equal('2');
    const bounds = [...(await registry.metrics()).matchAll(/delay_seconds_bucket\{le="([^"]+)"\}/g)];
    expect(bounds.map(([, bound]) => bound)).to.deep.equal([
      ...['0.05', '0.1', '0.25', '0.5', '1', '2.5', '5', '10', '30', '60', '300', '3600', '+Inf'],
    ]);
    objects.notReady = 5;
    expect(await value('cronhpa_objects{ready="false"}')).to.equal('5');
  });

  it('has a help text for each series', async () => {
    const registry = new Registry();
    new CronHpaSeries(registry, () => ({ ready: 0, notReady: 0 }));
    const help = [...(await registry.metrics()).matchAll(/^# HELP (.*)$/gm)].map(([, line]) => line);
    expect(help).to.deep.equal([
      'cronhpa_activations_total Activations of jobs, by result; each failed attempt of an activation counts as Failed',
      'cronhpa_missed_activations_total Activations of jobs that were not executed, because a later activation was due or startingDeadlineSeconds had passed',
      'cronhpa_activation_delay_seconds Time between the scheduled time of an activation and its execution, in seconds',
      'cronhpa_objects CronHorizontalPodAutoscalers, by readiness: ready if all jobs are scheduled and the target can be scaled',
    ]);
  });
});
