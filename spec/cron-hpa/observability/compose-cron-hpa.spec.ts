import { expect } from 'chai';
import type { CronHpa } from '#lib/cron-hpa/cron-hpa.ts';
import { composeCronHpa } from '#lib/cron-hpa/observability/compose-cron-hpa.ts';
import { Schedules } from '#lib/schedule/parse-schedule.ts';
import { cronHpa } from '#spec/support/cron-hpas.ts';

const NOW_MS = Date.parse('2026-07-15T07:00:00Z');

function compose(query: string, others: readonly CronHpa[] = []) {
  const work = {
    ...{ signal: new AbortController().signal, nowMs: NOW_MS, turn: async () => {} },
    hasPrometheusServer: false,
    checkTarget: async () => undefined,
  };
  return composeCronHpa(new URLSearchParams(query), work, {
    values: () => others,
    findAll: () => [],
    others: () => ({ hpa: undefined, others }),
    planOptions: () => ({ nowMs: NOW_MS, timeZone: 'UTC', schedules: new Schedules() }),
  });
}

async function problemsOf(query: string, others: readonly CronHpa[] = []): Promise<readonly string[]> {
  const { fields, problems, manifest } = await compose(query, others);
  expect(manifest).to.equal(undefined);
  const beside = [...fields.toString().matchAll(/id="p-([^"]*)" class="refusal">([^<]+)</g)];
  return [...beside.map(([, field, problem]) => `${field}: ${problem}`), ...problems];
}

describe('composeCronHpa', () => {
  it('makes a Cron-HPA, with the next ten activations of all jobs', async () => {
    const { manifest, preview } = await compose(
      'name=web&job1=up&schedule1=0+8+*+*+*&size1=9&zone1=Europe/Berlin&job2=down&schedule2=@daily&size2=2',
    );
    expect(manifest).to.deep.equal({
      ...{ apiVersion: 'autoscaling.stke.com/v1beta1', kind: 'CronHorizontalPodAutoscaler' },
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        jobs: [
          { name: 'up', schedule: '0 8 * * *', targetSize: 9, timeZone: 'Europe/Berlin' },
          { name: 'down', schedule: '@daily', targetSize: 2 },
        ],
      },
    });
    const rows = String(preview).match(/<tr><td.*?<\/tr>/gs) ?? [];
    const texts = rows.map((row) =>
      row
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    );
    expect(texts).to.have.lengthOf(10);
    expect(texts.slice(0, 2)).to.deep.equal([
      '2026-07-16 00:00:00 Thu 16 Jul, 00:00 UTC down 2',
      '2026-07-16 06:00:00 Thu 16 Jul, 08:00 Europe/Berlin up 9',
    ]);
  });

  it('reports each problem as the controller does, beside its field', async () => {
    const job = 'job1=up&schedule1=0+8+*+*+*&size1=9';
    expect(await problemsOf('name=web')).to.deep.equal(['job1: at least one job is required']);
    expect(await problemsOf('name=web&job1=up')).to.deep.equal([
      'schedule1: is missing',
      'size1: is missing',
    ]);
    const two = await problemsOf('name=web&job1=up&schedule1=0+88+*+*+*&size1=x');
    expect(two.join('\n')).to.match(
      /^schedule1: Cannot read schedule .*\nsize1: must be a whole number, 0 or more$/,
    );
    expect((await problemsOf(`name=web&${job}&zone1=Mars`)).join()).to.match(
      /^schedule1: time zone &quot;Mars&quot;/,
    );
    expect(await problemsOf(`name=web&${job}&job2=up&schedule2=@daily&size2=1`)).to.deep.equal([
      'job2: another job has the same name',
    ]);
    expect(await problemsOf('name=web&job1=up&schedule1=0+0+30+2+*&size1=9')).to.deep.equal([
      'schedule1: not due within the next five years',
    ]);
  });

  it('reports another Cron-HPA of the same target', async () => {
    const job = 'job1=up&schedule1=@daily&size1=9';
    expect((await problemsOf(`name=new&target=web&${job}`, [cronHpa()])).join()).to.match(
      /^CronHorizontalPodAutoscaler "web" also scales Deployment "web"/,
    );
  });

  it('explains how to enter more jobs beside the last row, unless there are ten', async () => {
    const hint =
      'To add another job, fill in this row and choose Make YAML: the form then has another empty row.';
    const hintsOf = async (query: string) => {
      const fields = (await compose(query)).fields.toString();
      return [...fields.matchAll(/id="h-(job\d+)" class="hint">([^<]+)</g)].map(([, name, text]) => [
        name,
        text,
      ]);
    };
    expect(await hintsOf('')).to.deep.equal([['job2', hint]]);
    expect(await hintsOf('name=web&job1=a&job2=b')).to.deep.equal([['job3', hint]]);
    expect(await hintsOf('name=web&job10=z')).to.deep.equal([]);
  });

  it('has an empty row behind the filled ones, up to ten', async () => {
    const rowsOf = async (count: number) => {
      const jobs = Array.from({ length: count }, (_, index) => `job${index + 1}=j${index}`).join('&');
      return (await compose(`name=web&${jobs}`)).fields.toString().match(/id="f-job\d+"/g)?.length;
    };
    expect([await rowsOf(0), await rowsOf(1), await rowsOf(2), await rowsOf(12)]).to.deep.equal([
      2, 2, 3, 10,
    ]);
  });
});
