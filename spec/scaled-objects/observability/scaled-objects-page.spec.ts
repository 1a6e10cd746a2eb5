import { expect } from 'chai';
import type { ScaledJob } from '#lib/scaled-objects/api/scaled-job.ts';
import type { ScaledObject } from '#lib/scaled-objects/api/scaled-object.ts';
import { renderScaledObjects } from '#lib/scaled-objects/observability/scaled-objects-page.ts';
import { scaledObjectsUi } from '#lib/scaled-objects/observability/scaled-objects-ui.ts';
import { readPageQuery } from '#lib/ui/page-query.ts';
import {
  debugOptions,
  type ObservedObjects,
  preparedTrigger,
  REPORTED_AT,
} from '#spec/support/scaled-object-reports.ts';

const NOW_MS = Date.parse(REPORTED_AT);
/** Nothing is composed here. */
const NOTHING = {} as never;
const READY = { type: 'Ready', status: 'True', message: 'all is well' } as const;
const ACTIVE = { type: 'Active', status: 'True' } as const;
const FALLBACK = { type: 'Fallback', status: 'True' } as const;
const UNREADY = { type: 'Ready', status: 'False', message: 'there is no <web>' } as const;
const SIGN = '"keda" writes the status';
const value = (...values: number[]) => ({ kind: 'value', values, isActive: true, atMs: 0 }) as const;

describe('renderScaledObjects', () => {
  it('lists objects with their states, those that are not ready first, with the reason', () => {
    const metrics = { s0: { state: value(7), nextInMs: 4600 } };
    const page = rowsOf('', {
      objects: [
        scaledObject('web', { conditions: [READY, ACTIVE], lastActiveTime: '2026-07-15T07:58:00Z' }),
        scaledObject('calm', { conditions: [READY, { ...ACTIVE, status: 'False' }] }),
        scaledObject('ill', { conditions: [UNREADY, ACTIVE] }),
        scaledObject('back', { conditions: [READY, FALLBACK, ACTIVE] }),
        scaledObject('new', undefined),
        scaledObject('still', { conditions: [READY] }, { 'autoscaling.keda.sh/paused': 'true' }),
        scaledObject('left', { conditions: [READY] }),
      ],
      jobs: [scaledJob('work', { conditions: [READY] })],
      triggers: { 'default/web': [preparedTrigger('prometheus', { metric: { metricName: 's0' } })] },
      metrics,
      next: { 'default/web': { what: 'scale to 0', atMs: NOW_MS + 90_400 } },
      other: { evidence: SIGN, on: ['ScaledObject left'] },
    });
    const planned = 'the triggers are being prepared';
    const types = 'prometheus, cron';
    expect(page).to.deep.equal([
      'State|Kind|Namespace|Name|Scales|Triggers|Last active|Next',
      `Failing|ScaledObject|default|ill|Deployment ill|${types}|–|${planned}`,
      'there is no &lt;web&gt;',
      `Pending|ScaledObject|default|new|Deployment new|${types}|–|${planned}`,
      `Healthy|ScaledObject|default|web|Deployment web|${types}: 1 of 1 active|2m ago|scale to 0, in 90 s; next poll in 5 s`,
      `Healthy|ScaledObject|default|calm|Deployment calm|${types}|–|${planned}`,
      `Degraded|ScaledObject|default|back|Deployment back|${types}|–|${planned}`,
      'A trigger fails, and the fallback applies',
      `Paused|ScaledObject|default|still|Deployment still|${types}|–|nothing: the object is paused`,
      `Not managed|ScaledObject|default|left|Deployment left|${types}|–|nothing: another operator manages the object (&quot;keda&quot; writes the status)`,
      `Healthy|ScaledJob|default|work|Jobs|cron|–|${planned}`,
    ]);
  });

  it('shows why triggers fail if the condition only states that they do', () => {
    const failed = (reason: string, message: string) =>
      ({ type: 'Ready', status: 'False', reason, message }) as const;
    const refused = { kind: 'failing', error: new Error('refused') } as const;
    const [, , unplanned, , unasked, , other] = rowsOf('', {
      objects: [
        scaledObject('a', { conditions: [failed('TriggerError', 'Triggers do not work')] }),
        scaledObject('b', {
          conditions: [{ ...failed('PartialTriggerError', 'Some do not'), status: 'Unknown' }],
        }),
        scaledObject('c', { conditions: [failed('ScaledObjectCheckFailed', 'no target')] }),
      ],
      triggers: {
        'default/a': [preparedTrigger('kafka', { error: new Error('no scaler found') })],
        'default/b': [preparedTrigger('prometheus', { metric: { metricName: 's0' } })],
        'default/c': [preparedTrigger('prometheus', { metric: { metricName: 's0' } })],
      },
      metrics: { s0: { state: refused, nextInMs: 1000 } },
    });
    expect([unplanned, unasked, other]).to.deep.equal([
      'Triggers do not work: no scaler found',
      'Some do not: refused',
      'no target',
    ]);
  });

  it('explains an invalid number of replicas of a pause', () => {
    const annotations = { 'autoscaling.keda.sh/paused-replicas': 'many' };
    const page = rowsOf('', { objects: [scaledObject('still', { conditions: [UNREADY] }, annotations)] });
    expect(page.slice(1)).to.deep.equal([
      'Failing|ScaledObject|default|still|Deployment still|prometheus, cron|–|nothing: the object is paused',
      'there is no &lt;web&gt;',
    ]);
  });

  it('marks rows by state and cells by content, and links to each object', () => {
    const query = readPageQuery(new URLSearchParams('view=scaledobjects'), ['scaledobjects']);
    const objects = [
      scaledObject('ill', { conditions: [UNREADY] }),
      scaledObject('calm', { conditions: [READY] }),
    ];
    const page = renderScaledObjects(query, debugOptions({ objects })).toString();
    const names = (pattern: RegExp) => [...page.matchAll(pattern)].map(([, found]) => found);
    expect(names(/<tr class="([^"]*)"/g)).to.deep.equal(['failing has-reason', 'failing reason']);
    expect(names(/<th class="([^"]*)"/g).join(' ')).to.equal('faint faint name text text number text');
    expect(names(/<span class="state (\w+)"/g)).to.deep.equal(['failing', 'served']);
    expect(page).to.match(/href="\?view=scaledobjects&amp;namespace=default&amp;name=calm"/);
    expect(page).to.include('<h2>ScaledObjects and ScaledJobs</h2><span class="count">2</span>');
    expect(page).to.not.include('Not managed');
    const other = { evidence: SIGN, on: [] };
    expect(textOf(renderScaledObjects(query, debugOptions({ other })).toString()).join(' ')).to.match(
      /Not managed Another operator manages these objects: &quot;keda&quot; writes the status\. .*No ScaledObjects or ScaledJobs\./,
    );
  });

  it('lists filtered objects, a hundred per page', () => {
    const objects = Array.from({ length: 101 }, (_, index) => scaledObject(`o${index}`, undefined));
    expect(rowsOf('', { objects })).to.have.lengthOf(101);
    expect(rowsOf('&page=2', { objects })).to.have.lengthOf(2);
    expect(rowsOf('&filter=o10', { objects })).to.have.lengthOf(3);
    expect(rowsOf('&namespace=other', { objects })[1]).to.equal('No ScaledObjects or ScaledJobs.');
    const unnamed = { metadata: { name: 'bare' }, spec: scaledObject('bare', undefined).spec };
    expect(rowsOf('&name=bare', { objects: [unnamed] })[1]).to.match(/^Pending\|ScaledObject\|\|bare/);
  });

  it('shows the next action and its time, if known', () => {
    const next = (more: ObservedObjects) =>
      rowsOf('', { objects: [scaledObject('web', { conditions: [READY] })], ...more })[1]
        ?.split('|')
        .at(-1);
    const triggers = {
      'default/web': [
        preparedTrigger('a', { metric: { metricName: 's0' } }),
        preparedTrigger('b', { metric: { metricName: 's1' } }),
      ],
    };
    const waits = (...all: number[]) =>
      Object.fromEntries(all.map((nextInMs, index) => [`s${index}`, { state: value(0), nextInMs }]));
    const step = (atMs: number | undefined) => ({ 'default/web': { what: 'look again', atMs } });
    expect(next({ triggers })).to.equal('none of its triggers is polled here');
    expect(next({ triggers, metrics: waits(9000, 2400) })).to.equal('next poll in 2 s');
    expect(next({ triggers, metrics: waits(-9000) })).to.equal('next poll in 0 s');
    expect(next({ triggers, next: step(undefined) })).to.equal('look again');
    expect(next({ triggers, next: step(NOW_MS - 5000) })).to.equal('look again, in 0 s');
    expect(next({ triggers, next: step(NOW_MS + 7000), metrics: waits(1000) })).to.equal(
      'look again, in 7 s; next poll in 1 s',
    );
    expect(next({})).to.equal('the triggers are being prepared');
    const jobs = [scaledJob('work', { conditions: [READY] })];
    expect(next({ objects: [], jobs, isLeader: false })).to.equal('the leader polls its triggers');
    const existing = { 'default/work': [preparedTrigger('a', { metric: { metricName: 's0' } })] };
    const reported = { objects: [], jobs, triggers: existing, metrics: waits(3000) };
    const late = { 'default/work': { what: 'never told', atMs: undefined } };
    expect(next({ ...reported, next: late })).to.equal('next poll in 3 s');
  });

  it('counts the triggers that are active, and names each type once', () => {
    const off = { ...value(0), isActive: false };
    const states = [value(1), off, { kind: 'failing', error: new Error('refused') } as const];
    const reported = states.map((_, index) => preparedTrigger('a', { metric: { metricName: `s${index}` } }));
    const metrics = Object.fromEntries(states.map((state, index) => [`s${index}`, { state }]));
    const object = scaledObject('web', { conditions: [READY] });
    const same = { ...object, spec: { ...object.spec, triggers: [trigger('a'), trigger('a')] } };
    const [, row] = rowsOf('', { objects: [same], triggers: { 'default/web': reported }, metrics });
    expect(row?.split('|')[5]).to.equal('a: 1 of 3 active');
    expect(rowsOf('', { objects: [same] })[1]?.split('|')[5]).to.equal('a');
  });

  it('shows one object: what it scales, its conditions, and each trigger with its value and its failures', () => {
    const triggers = [
      preparedTrigger('prometheus', {
        name: 'queue',
        metric: { metricName: 's0-prometheus', target: 10, requested: 'up at http://prometheus' },
      }),
      preparedTrigger('redis', { metric: { metricName: 's1-redis', targetType: 'Value' } }),
      preparedTrigger('cpu', { resource: { resource: 'cpu' } as never }),
      preparedTrigger('kafka', { error: new Error('no scaler found') }),
      preparedTrigger('cron', { metric: { metricName: 's4-cron' } }),
      preparedTrigger('mysql', { metric: { metricName: 's5-mysql' } }),
      preparedTrigger('nats', { metric: { metricName: 's6-nats' } }),
    ];
    const object = scaledObject('web', {
      ...{ conditions: [READY, ACTIVE], lastActiveTime: '2026-07-15T07:59:30Z', hpaName: 'keda-hpa-web' },
      health: { 's1-redis': { numberOfFailures: 2, status: 'Failing' } },
    } as never);
    const off = { ...value(0), isActive: false };
    const lines = linesOf('&namespace=default&name=web', {
      objects: [object, scaledObject('other', undefined)],
      triggers: { 'default/web': triggers },
      metrics: {
        's0-prometheus': {
          ...{ state: value(12, 7), nextInMs: 8000 },
          activity: { isActive: true, sinceMs: NOW_MS - 60_000 },
        },
        's1-redis': {
          ...{ state: { kind: 'failing', error: new Error('ECONNREFUSED') }, nextInMs: 0 },
          failure: { count: 4, sinceMs: NOW_MS - 300_000, error: new Error('ECONNREFUSED') },
          activity: { isActive: true, sinceMs: NOW_MS - 60_000 },
        },
        's4-cron': { state: off, nextInMs: 1000, activity: { isActive: false, sinceMs: NOW_MS - 5000 } },
        's5-mysql': { state: { kind: 'fallback', error: new Error('no such table') } },
      },
      next: { 'default/web': { what: 'leave the replicas to the HPA', atMs: undefined } },
    });
    expect(lines).to.deep.equal([
      ...['ScaledObjects / default / web', 'ScaledObject'],
      ...['State|Healthy', 'Scales|Deployment web', 'Next|leave the replicas to the HPA; next poll in 0 s'],
      ...['Last active|30s ago', 'HPA|keda-hpa-web', 'Ready|True: all is well', 'Active|True'],
      'Triggers 2',
      'State|Trigger|Value|Threshold|Since|Failures|Next poll|Query',
      'Active|prometheus queue|12, 7|10 per replica|1m ago|0|in 8s|up at http://prometheus',
      's0-prometheus',
      'Failing|redis|–|5 in total|5m ago|4 (2 counted)|now|value of s1-redis',
      ...['ECONNREFUSED', 's1-redis'],
      'Read by the HPA|cpu|–|–|–|–|–|–',
      'the HPA controller reads cpu itself',
      'Failing|kafka|–|–|–|–|–|–',
      'no scaler found',
      'Inactive|cron|0|5 per replica|5s ago|0|in 1s|value of s4-cron',
      's4-cron',
      'Degraded|mysql|–|5 per replica|–|0|now|value of s5-mysql',
      ...['no such table', 's5-mysql'],
      'Pending|nats|–|5 per replica|–|0|now|value of s6-nats',
      's6-nats',
    ]);
  });

  it('shows the known details of a pending object and of a ScaledJob', () => {
    const existing = { objects: [scaledObject('web', undefined)], jobs: [scaledJob('web', undefined)] };
    const none = ['State|Trigger|Value|Threshold|Since|Failures|Next poll|Query'];
    const requested = 'This replica polls none of its triggers.';
    expect(linesOf('&namespace=default&name=web', { ...existing, isLeader: false })).to.deep.equal([
      ...['ScaledObjects / default / web', 'ScaledObject'],
      ...[
        'State|Pending',
        'Scales|Deployment web',
        'Next|the triggers are being prepared',
        'Last active|never',
      ],
      ...['Triggers 2', ...none, requested, 'ScaledJob', 'State|Pending', 'Scales|Jobs'],
      ...['Next|the leader polls its triggers', 'Last active|never'],
      ...[
        'Jobs',
        'State|Job|Created|Ended',
        'Not listed yet: the leader lists Jobs when a trigger responds.',
      ],
      ...['Triggers 1', ...none, requested],
    ]);
    const triggers = { 'default/web': [preparedTrigger('cron', { metric: { metricName: 's0-cron' } })] };
    const metrics = { 's0-cron': { state: value(3) } };
    const lines = linesOf('&namespace=default&name=web', { jobs: existing.jobs, triggers, metrics });
    expect(lines).to.include('Active|cron|3|5 per replica|–|0|now|value of s0-cron');
  });

  it('draws the replicas of the target, and links to its HPA where the page has HPAs', () => {
    const points = [2, 4].map((value, index) => ({ atMs: NOW_MS - 60_000 * (1 - index), value }));
    const object = scaledObject('web', { conditions: [READY], hpaName: 'keda-hpa-web' } as never);
    const page = (views: readonly string[]) => {
      const query = readPageQuery(
        new URLSearchParams('view=scaledobjects&namespace=default&name=web'),
        views,
      );
      return renderScaledObjects(
        query,
        debugOptions({ objects: [object], replicas: { 'default/web': points } }),
      ).toString();
    };
    expect(page(['hpas'])).to.include('<a href="?view=hpas&amp;namespace=default&amp;name=keda-hpa-web">');
    expect(page([])).to.include('<dd>keda-hpa-web</dd>');
    expect(page([]).match(/<svg /g)).to.have.lengthOf(1);
    expect(page([]))
      .to.match(/<path class="replicas" d="M56 [\d.]+H564V[\d.]+"/)
      .and.to.match(/bounds \d to 100/);
  });

  it('shows the Jobs of a ScaledJob, the newest first, and how many there are', () => {
    const jobs = [
      { name: 'work-b', state: 'Active', createdAtMs: NOW_MS - 60_000, endedAtMs: undefined },
      { name: 'work-a', state: 'Failed', createdAtMs: NOW_MS - 600_000, endedAtMs: NOW_MS - 300_000 },
    ] as const;
    const listed = { listedAtMs: NOW_MS - 5000, active: 1, complete: 7, failed: 1, jobs };
    const lines = linesOf('&namespace=default&name=work', {
      jobs: [scaledJob('work', { conditions: [READY] })],
      listedJobs: { 'default/work': listed },
      triggers: { 'default/work': [] },
    });
    const from = lines.findIndex((line) => line.startsWith('Jobs '));
    expect(lines.slice(from, from + 4)).to.deep.equal([
      'Jobs 1 active, 7 complete, 1 failed; the newest 2 are shown, listed 5s ago',
      'State|Job|Created|Ended',
      'Active|work-b|1m ago|–',
      'Failed|work-a|10m ago|5m ago',
    ]);
  });

  it('marks triggers by how they fare', () => {
    const query = readPageQuery(new URLSearchParams('view=scaledobjects&namespace=default&name=web'), []);
    const states = [value(1), { kind: 'fallback', error: new Error('a') } as const] as const;
    const metrics = { s0: { state: states[0] }, s1: { state: states[1] } };
    const triggers = {
      'default/web': [
        preparedTrigger('kafka', { error: new Error('no scaler found') }),
        preparedTrigger('cpu', { resource: { resource: 'cpu' } as never }),
        ...['s0', 's1', 's2'].map((metricName) =>
          preparedTrigger('a', { name: '<b>', metric: { metricName } }),
        ),
      ],
    };
    const objects = [scaledObject('web', { conditions: [READY] })];
    const page = renderScaledObjects(query, debugOptions({ objects, triggers, metrics })).toString();
    const names = (pattern: RegExp) => [...page.matchAll(pattern)].map(([, found]) => found);
    expect(names(/<span class="state (\w+)"/g)).to.deep.equal(
      ...[['served', 'failing', 'served', 'served', 'waiting', 'waiting']],
    );
    expect(names(/<tr class="([^"]*)"/g)).to.deep.equal([
      ...['failing has-reason', 'failing reason', 'has-reason', 'reason', 'has-reason', 'reason'],
      ...['waiting has-reason', 'waiting reason', 'waiting has-reason', 'waiting reason'],
    ]);
    expect(names(/<th class="([^"]*)"/g).join(' ')).to.equal('name number number number number number text');
    expect(page).to.include('a <span class="faint">&lt;b&gt;</span>');
  });

  it('reports a missing object', () => {
    expect(() => linesOf('&namespace=default&name=gone', {})).to.throw(
      'scaledobjects.keda.sh "default/gone" not found',
    );
  });
});

describe('scaledObjectsUi', () => {
  const objects = [
    scaledObject('a', { conditions: [READY] }),
    scaledObject('b', { conditions: [UNREADY] }),
    scaledObject('c', undefined),
    scaledObject('d', { conditions: [UNREADY] }),
  ];
  const jobs = [scaledJob('a', { conditions: [{ ...READY, status: 'Unknown' }] })];

  it('counts objects of both kinds, and those that are not ready', () => {
    const part = scaledObjectsUi(debugOptions({ objects, jobs }), () => true, NOTHING);
    expect(part).to.include({
      ...{ view: 'scaledobjects', title: 'ScaledObjects' },
      about: 'ScaledObjects and ScaledJobs (event-driven scaling)',
    });
    expect(part.summary()).to.deep.equal({
      ...{ count: 5, unhealthy: 4, problem: 'not ready', waiting: undefined },
    });
  });

  it('reports objects of another operator, and missing kinds', () => {
    const other = { evidence: SIGN, on: ['ScaledObject b', 'ScaledJob a'] };
    const reported = debugOptions({ objects, jobs, other });
    expect(scaledObjectsUi(reported, () => true, NOTHING).summary()).to.deep.equal({
      ...{ count: 5, unhealthy: 2, problem: 'not ready', waiting: '2 managed by another operator' },
    });
    expect(scaledObjectsUi(reported, () => false, NOTHING).summary().waiting).to.equal(
      'kinds are not served or may not be listed',
    );
  });
});

function trigger(type: string) {
  return { type, metadata: {} };
}

function scaledObject(
  name: string,
  status: ScaledObject['status'],
  annotations: Readonly<Record<string, string>> = {},
): ScaledObject {
  return {
    metadata: { namespace: 'default', name, annotations },
    spec: { scaleTargetRef: { name }, triggers: [trigger('prometheus'), trigger('cron')] },
    ...(status && { status }),
  };
}

function scaledJob(name: string, status: ScaledJob['status']): ScaledJob {
  return {
    metadata: { namespace: 'default', name },
    spec: { jobTargetRef: {}, triggers: [trigger('cron')] },
    ...(status && { status }),
  };
}

/** The lines of the page, with a bar between the cells of a row and between facts. */
function linesOf(search: string, existing: ObservedObjects): readonly string[] {
  const query = readPageQuery(new URLSearchParams(`view=scaledobjects${search}`), ['scaledobjects']);
  return textOf(renderScaledObjects(query, debugOptions(existing)).toString());
}

/** The lines of the page's table. */
function rowsOf(search: string, existing: ObservedObjects): readonly string[] {
  const lines = linesOf(search, existing);
  return lines.slice(
    lines.findIndex((line) => line.startsWith('State|')),
    lines.findIndex((line) => line.includes('next →')) >>> 0,
  );
}

function textOf(page: string): readonly string[] {
  const marked = page
    .replace(/\s+/g, ' ')
    .replace(/<\/(?:td|th)> ?<(?:td|th)\b[^>]*>|<\/dt> ?<dd>/g, '|')
    .replace(/<\/(?:tr|div|nav|section|dd|p)>/g, '\n')
    .replace(/<[^>]*>/g, ' ');
  const lines = marked.split('\n').map((line) =>
    line
      .replace(/\s+/g, ' ')
      .replace(/ ?\| ?/g, '|')
      .trim(),
  );
  return lines.filter(Boolean);
}
