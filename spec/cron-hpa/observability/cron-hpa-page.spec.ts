import { expect } from 'chai';
import type { CronHpa } from '#lib/cron-hpa/cron-hpa.ts';
import { renderCronHpas } from '#lib/cron-hpa/observability/cron-hpa-page.ts';
import { cronHpaUi } from '#lib/cron-hpa/observability/cron-hpa-ui.ts';
import type { DebuggedCronHpas } from '#lib/cron-hpa/observability/debug-cron-hpas.ts';
import type { Hpa } from '#lib/cron-hpa/target-conflicts.ts';
import { Schedules } from '#lib/schedule/parse-schedule.ts';
import { readPageQuery } from '#lib/ui/page-query.ts';
import { cronHpa, hpa, job, planAt } from '#spec/support/cron-hpas.ts';

const NOW = '2026-07-15T07:00:00Z';
const READY = { status: 'True', reason: 'Scheduled', message: 'all is well' };
const FAILED = { status: 'False', reason: 'ScalingFailed', message: 'there is no <web>' };

describe('renderCronHpas', () => {
  it('lists objects, unready ones first, with their next activation and the cause of failures', () => {
    const well = { ready: READY, nextScheduleTime: '2026-07-15T07:30:00Z', lastResult: 'Succeed' };
    const page = shown('', [
      cronHpa({ name: 'well', status: well } as never),
      cronHpa({ name: 'ill', status: { ready: FAILED, lastResult: 'Failed' } } as never),
      cronHpa({ name: 'new' }),
    ]);
    expect(page).to.match(/Pending default new Deployment web 1 – –/);
    expect(page).to.match(
      /Failing default ill Deployment web 1 – Failed .*ScalingFailed: there is no &lt;web&gt;/,
    );
    expect(page).to.match(/Healthy default well Deployment web 1 in 30 ?m\S* Succeed/);
    expect(page).to.match(
      /CronHorizontalPodAutoscalers .*State Namespace Cron-HPA Target Jobs Next activation Last result/,
    );
    expect(page.indexOf(' ill ')).to.be.below(page.indexOf(' well '));
    expect(page).to.not.include('all is well');
    expect(shown('', [])).to.include('No CronHorizontalPodAutoscalers.');
  });

  it('shows what an object sets, what blocks it, and each of its jobs', () => {
    const jobs = [job(), job({ name: 'rests', suspend: true }), job({ name: 'text', schedule: 'at dawn' })];
    const [planned] = planAt(cronHpa({ spec: { jobs } }), NOW);
    const condition = {
      ...{ jobId: '1', name: 'morning', schedule: '0 0 8 * * *', state: 'Failed', message: 'no such target' },
      ...{ lastProbeTime: '2026-07-14T08:00:00Z', submittedTime: '2026-07-10T08:00:00Z' },
      ...{ lastActivationTime: '2026-07-12T08:00:00Z', specHash: planned?.specHash },
    };
    const status = { jobs: [condition], ready: FAILED, scaleUpKeepWindow: true, lastResult: 'Failed' };
    const object = cronHpa({ spec: { jobs }, status } as never);
    const page = shown('&namespace=default&name=web', [object], hpa());
    expect(page).to.match(/Target Deployment web /);
    expect(page).to.match(/Sets minReplicas of web: HorizontalPodAutoscaler &quot;web&quot; scales/);
    expect(page).to.match(/Ready False: there is no &lt;web&gt; Blocked by nothing Next morning in 1 ?h/);
    expect(page).to.match(/Last result Failed Scale-up window open: a job has scaled up/);
    expect(page).to.match(/Missed morning, 1 times: overtaken/);
    expect(page).to.match(/Jobs 3 State Job Schedule Time zone Size Next Last /);
    expect(page).to.match(/Cron-HPAs/);
    expect(page).to.match(/Failed morning 0 0 8 \* \* \* UTC 3 in 1 ?h\S* .*ago .*no such target/);
    expect(page).to.match(/rests 0 0 8 \* \* \* UTC 3 – – never due: suspend is true/);
    expect(page).to.match(/text at dawn UTC 3 – – never due: Cannot read schedule/);
  });

  it('marks the row of a failed job, and not of one that is not due yet', () => {
    const [planned] = planAt(cronHpa(), NOW);
    const rowClasses = (state: string) => {
      const condition = {
        ...{ jobId: '1', name: 'morning', schedule: '0 0 8 * * *', state, message: '' },
        ...{ lastProbeTime: '2026-07-14T08:00:00Z', submittedTime: '2026-07-10T08:00:00Z' },
        ...{ lastActivationTime: '2026-07-14T08:00:00Z', specHash: planned?.specHash },
      };
      const object = cronHpa({ status: { jobs: [condition], ready: READY } } as never);
      const query = readPageQuery(new URLSearchParams('view=cronhpas&namespace=default&name=web'), [
        'cronhpas',
      ]);
      const page = renderCronHpas(query, sourceOf([object])).toString();
      return [...page.matchAll(/<tr class="([^"]*)"/g)].map(([, names]) => names);
    };
    expect(rowClasses('Failed')).to.deep.equal(['failing']);
    expect([...rowClasses('Succeed'), ...rowClasses('Submitted')]).to.deep.equal([]);
  });

  it('shows the replicas of an object that has not been reconciled yet', () => {
    const page = shown('&namespace=default&name=web', [cronHpa()]);
    expect(page).to.match(
      /Sets replicas of web: no HorizontalPodAutoscaler scales Deployment &quot;web&quot;/,
    );
    expect(page).to.match(/Ready not reconciled yet/);
    expect(page).to.match(/Blocked by nothing Next morning in 1 ?h/);
    expect(page).to.match(/Last result none yet Scale-up window closed/);
    const requested = cronHpa({ annotations: { 'platform.stke/adjust-hpa-min': 'true' } });
    expect(shown('&namespace=default&name=web', [requested])).to.match(/Sets nothing: no Horizontal/);
    const conflicting = cronHpa({ name: 'conflicting' });
    expect(shown('&namespace=default&name=web', [cronHpa(), conflicting])).to.match(
      /Blocked by CronHorizontal.*conflicting/,
    );
  });

  it('shows each object of a name, with its API group', () => {
    const other = cronHpa({ group: 'autoscaling.alibabacloud.com', spec: { jobs: [] } });
    const page = shown('&namespace=default&name=web', [cronHpa(), other]);
    expect(page).to.match(
      /API group autoscaling\.stke\.com .* API group autoscaling\.alibabacloud\.com .* No jobs\./,
    );
    expect(shown('&namespace=default&name=web', [cronHpa()])).not.to.contain('API group');
  });

  it('shows an object without jobs, which is never due', () => {
    const page = shown('&namespace=default&name=web', [cronHpa({ spec: { jobs: [] } })]);
    expect(page).to.match(/Next never .*Jobs 0 .*No jobs\./);
  });

  it('lists only objects of the requested namespace', () => {
    const objects = [cronHpa({ name: 'one' }), cronHpa({ name: 'two', namespace: 'shop' })];
    const page = shown('&namespace=shop', objects);
    expect(page).to.match(/ shop two /);
    expect(page).to.not.match(/ one /);
  });

  it('returns 404 for an unknown object', () => {
    expect(() => shown('&namespace=default&name=gone', [])).to.throw(/"default\/gone" not found/);
  });
});

describe('cronHpaUi', () => {
  it('counts objects and unready objects', () => {
    const objects = [
      cronHpa({ status: { ready: READY } } as never),
      cronHpa({ status: { ready: FAILED } } as never),
      cronHpa(),
    ];
    expect(cronHpaUi(sourceOf(objects)).summary()).to.deep.equal({
      ...{ count: 3, unhealthy: 2, problem: 'not ready' },
    });
    expect(cronHpaUi(sourceOf([]))).to.include({
      ...{ view: 'cronhpas', title: 'Cron-HPAs' },
      about: 'CronHorizontalPodAutoscalers: scaling by schedule',
    });
  });
});

/** The text of a page without its markup. */
function shown(search: string, objects: readonly CronHpa[], hpa?: Hpa): string {
  const query = readPageQuery(new URLSearchParams(`view=cronhpas${search}`), ['cronhpas']);
  const page = renderCronHpas(query, sourceOf(objects, hpa)).toString();
  return page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

function sourceOf(objects: readonly CronHpa[], hpa?: Hpa): DebuggedCronHpas {
  return {
    values: () => objects,
    findAll: (namespace, name) => objects.filter((one) => one.namespace === namespace && one.name === name),
    others: () => ({ hpa, others: objects }),
    planOptions: () => ({ nowMs: Date.parse(NOW), timeZone: 'UTC', schedules: new Schedules() }),
  };
}
