import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { parse } from 'yaml';
import { readHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { readScaledHpa } from '#lib/metrics-adapter/collected-metrics.ts';
import type { MetricCollector } from '#lib/metrics-adapter/collectors/metric-collector.ts';
import { planCollectors } from '#lib/metrics-adapter/plans/plan-collectors.ts';
import { readScalingSchedule } from '#lib/metrics-adapter/scaling-schedules/scaling-schedule.ts';
import { allCollectors } from '#spec/support/all-collectors.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { externalMetric, hpaObject, objectMetric, podsMetric } from '#spec/support/scaled-hpas.ts';
import { SqsEmulator } from '#spec/support/sqs-emulator.ts';

const signal = new AbortController().signal;
const PAGE = readFileSync('docs/reference/annotations.md', 'utf8');
const BLOCKS = blocksOf(PAGE);
const INGRESS = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'shop' };
/** Collects metrics by their objects, without annotations. */
const UNCONFIGURED = 'scaling-schedule';

/** The responses of the examples' servers, by the ends of paths. */
const RESPONSES: readonly (readonly [string, string])[] = [
  ['/api/v1/query', '{"status":"success","data":{"resultType":"scalar","result":[1767225600,"42"]}}'],
  ['/stats', '{"items":[{"partitions":[{"unconsumed_events":42,"consumer_lag_seconds":42}]}]}'],
  ['/orders', '{"open": 40, "late": 2}'],
  ['/metrics.json', '{"busy": 21, "workers": 50}'],
  ['/api/v2/query', '#datatype,string,long,double\r\n,result,table,_value\r\n,_result,0,42\r\n'],
  ['/datapoints/query', '{"queries":[{"results":[{"values":[[1767225600000,42]]}]}]}'],
];

describe('docs/reference/annotations.md', () => {
  let stack: AsyncDisposableStack;
  let loopback: LoopbackServer;
  let collectors: readonly MetricCollector[];
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const nightly = readScalingSchedule(
    withNamespace(parse(BLOCKS.find((text) => text.includes('kind: ScalingSchedule\n')) ?? '')),
    'ScalingSchedule',
  );

  before(async () => {
    stack = new AsyncDisposableStack();
    loopback = stack.use(await LoopbackServer.start(({ url }, response) => respond(url, response)));
    const sqs = stack.use(await SqsEmulator.start());
    const queue = await sqs.createQueue('jobs');
    for (let sent = 0; sent < 42; sent++) await sqs.send(queue);
    const shop = {
      allows: () => true,
      query: () => ({ key: 'a', description: 'a', run: async () => [{ value: 42, labels: {} }] }),
      onChange: () => {},
    };
    collectors = allCollectors({
      ...{ clock, stack, sqs, url: loopback.url },
      sqlSources: new Map([['shop', shop]]),
      schedules: { find: (_, key) => (key === 'default/nightly' ? nightly : undefined) },
    });
  });
  after(() => stack.disposeAsync());

  it('has every setting of every collector, with its description', () => {
    for (const { name, settings } of collectors)
      for (const [setting, { description }] of Object.entries(settings.shape))
        expect(PAGE, `${setting} of ${name}`).to.include(`| \`${setting}\` | ${description} |`);
  });

  it('has a working example of every collector', async () => {
    const observed = new Set<string>();
    for (const text of BLOCKS.filter((one) => one.startsWith('- {'))) {
      const list = text
        .replaceAll(/http:\/\/[a-z.]+:\d+/g, loopback.url.origin)
        .replace('port: 8080', `port: ${loopback.port}`);
      const [{ type, metric, collector }] = parse(list) as [Record<'type' | 'metric' | 'collector', string>];
      observed.add(`${type} ${collector}`);
      const annotations = { 'metric-config/collectors': list };
      expect(await numberOf(hpaObject({ annotations, metrics: [metricOf(type, metric)] })), text).to.equal(
        42,
      );
    }
    const configured = collectors.filter(({ name }) => name !== UNCONFIGURED);
    const all = configured.flatMap(({ name, types }) => types.map((type) => `${type} ${name}`));
    expect([...observed].sort()).to.deep.equal(all.sort());
  });

  it('begins with an HPA that scales by a query', async () => {
    const [text = ''] = BLOCKS;
    const { metadata, spec } = parse(text) as HpaPart;
    expect(await numberOf(hpaObject({ ...metadata, ...spec }))).to.equal(42);
  });

  it('has a schedule with its values at the documented times', async () => {
    const text = BLOCKS.find((one) => one.startsWith('type: Object\n')) ?? '';
    const hpa = hpaObject({ metrics: [parse(text)] });
    for (const [time, value] of [
      ['2026-11-23T22:20:00+01:00', 0],
      ['2026-11-23T22:25:00+01:00', 500],
      ['2026-11-23T22:30:00+01:00', 1000],
      ['2026-11-24T00:00:00+01:00', 1000],
      ['2026-11-24T00:10:00+01:00', 0],
      ['2026-11-24T22:30:00+01:00', 0],
      ['2026-11-27T12:00:00+01:00', 5000],
      ['2026-11-28T00:00:00+01:00', 5000],
      ['2026-11-28T00:10:00+01:00', 0],
    ] as const) {
      await clock.advance(Date.parse(time) - clock.nowMs());
      expect(await numberOf(hpa), time).to.equal(value);
    }
  });

  it('is begun by README.md, with an HPA that scales by a query of Prometheus', async () => {
    const [text = ''] = blocksOf(readFileSync('README.md', 'utf8')).filter((one) =>
      one.includes('metric-config.external.'),
    );
    expect(text.trim().split('\n').length).to.be.within(5, 10);
    expect(await numberOf(parse(text))).to.equal(42);
    const form = new URLSearchParams(loopback.requests.at(-1)?.body);
    expect(form.get('query')).to.equal('sum(queue_depth)');
  });

  async function numberOf(object: object): Promise<number | undefined> {
    const hpa = readScaledHpa(readHpa(withNamespace(object), 'v2'));
    if (!hpa) throw new Error('it is an HPA');
    const { planned, problems } = planCollectors(hpa, collectors);
    expect(problems.map(({ error }) => error.message)).to.deep.equal([]);
    expect(planned.map(({ notes }) => notes)).to.deep.equal([[]]);
    const samples = (await planned[0]?.query.run(signal)) ?? [];
    expect(samples).to.have.lengthOf(1);
    return samples[0]?.value;
  }
});

interface HpaPart {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  readonly spec: { readonly metrics: readonly object[] };
}

function blocksOf(page: string): readonly string[] {
  return [...page.matchAll(/^```yaml\n([^`]*)```$/gm)].map(([, text = '']) => text);
}

/** Adds the default namespace, as kubectl does. */
function withNamespace(object: object): object {
  const { metadata = {} } = object as { readonly metadata?: object };
  return { ...object, metadata: { namespace: 'default', ...metadata } };
}

function respond(url: URL, response: ServerResponse): void {
  response.end(RESPONSES.find(([end]) => url.pathname.endsWith(end))?.[1]);
}

function metricOf(type: string, name: string): object {
  if (type === 'Pods') return podsMetric(name);
  return type === 'Object' ? objectMetric(name, INGRESS) : externalMetric(name);
}
