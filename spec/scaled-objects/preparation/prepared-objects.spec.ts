import { expect } from 'chai';
import { z } from 'zod';
import { Collection } from '#lib/collection/collection.ts';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import type { ScaledObject } from '#lib/scaled-objects/api/scaled-object.ts';
import {
  PreparedObjects,
  type PreparedObjectsOptions,
} from '#lib/scaled-objects/preparation/prepared-objects.ts';
import {
  compileScaledObject,
  type PreparedScaledObject,
} from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';
import { preparationError, preparedMetrics } from '#lib/scaled-objects/preparation/prepared-triggers.ts';
import { above, oneMetric, type Trigger } from '#lib/scaled-objects/triggers/trigger.ts';
import { TriggerTypes } from '#lib/scaled-objects/triggers/trigger-registry.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

describe('PreparedObjects', () => {
  it('compiles an object once for each generation, and again where another has its name', () => {
    const prepared = new PreparedObjects({ compile: compileScaledObject } as PreparedObjectsOptions<
      ScaledObject,
      PreparedScaledObject
    >);
    let parsed = 0;
    const object = (uid: string, generation: number, annotations = {}) =>
      ({
        metadata: { namespace: 'default', name: 'web', uid, generation, annotations },
        spec: {
          scaleTargetRef: { name: 'web' },
          triggers: [{ type: 'cron', name: 'a', metadata: {} }],
          advanced: {
            get scalingModifiers() {
              parsed++;
              return { formula: `a * ${generation}`, target: '1' };
            },
          },
        },
      }) as unknown as ScaledObject;
    const result = ({ modifiers }: PreparedScaledObject) => modifiers?.formula.evaluate({ a: 3 });
    const first = prepared.get(object('u', 1));
    const count = parsed;
    const paused = prepared.get(object('u', 1, { 'autoscaling.keda.sh/paused': 'true' }));
    expect([first.annotations.isPaused, paused.annotations.isPaused]).to.deep.equal([false, true]);
    expect(paused.modifiers).to.equal(first.modifiers);
    expect(parsed).to.equal(count);
    expect([result(first), result(prepared.get(object('u', 2)))]).to.deep.equal([3, 6]);
    expect(prepared.get(object('v', 2))).to.not.equal(prepared.get(object('u', 2)));
    const again = prepared.get(object('u', 2));
    prepared.delete('default/web');
    expect(prepared.get(object('u', 2))).to.not.equal(again);
  });
});

const KEY = 'default/web';

describe('PreparedObjects, of triggers', () => {
  let clock: ManualClock;
  let planned: number;
  let metricCount: number;
  let error: Error | undefined;
  let authentications: string[];
  let prepared: PreparedObjects<ScaledObject, PreparedScaledObject>;

  beforeEach(() => {
    clock = new ManualClock();
    planned = 0;
    metricCount = 1;
    error = undefined;
    authentications = [];
    const trigger: Trigger = {
      ...{
        types: ['queue'],
        scalerName: () => 'queueScaler',
        description: 'A queue.',
        parameters: z.object({}),
      },
      plan() {
        planned++;
        if (error) throw error;
        const query = { key: 'queue', description: 'a queue', run: async () => [] };
        const plan = oneMetric({ name: 'queue', query, target: 5, evaluate: above(0) });
        if (metricCount === 1 || plan.kind !== 'external') return plan;
        const metrics = plan.metrics.flatMap((metric) =>
          Array.from({ length: metricCount }, (_, index) => ({ ...metric, name: `queue-${index}` })),
        );
        return { ...plan, metrics };
      },
    };
    const logger = new RecordingLogger();
    prepared = new PreparedObjects({
      ...{ kind: 'ScaledObject', compile: compileScaledObject },
      collection: new Collection({ clock, logger, random: () => 0, timeoutMs: 1000, onPolled: () => {} }),
      share: new EventLoopShare(clock),
      ...{ clock, types: new TriggerTypes([trigger]), reader: { fresh: {} } as never },
      readWorkload: async () => undefined,
      authenticationsOf: () => authentications,
    });
  });

  it('bounds the metrics of a namespace, and prepares an object once there is space', async () => {
    const each = 500;
    metricCount = each;
    const { signal } = new AbortController();
    const prepare = async (namespace: string, index: number) => {
      const { metadata, spec } = object(1);
      return await prepared.prepareTriggers(
        { metadata: { ...metadata, namespace, name: `web-${index}` }, spec } as ScaledObject,
        signal,
      );
    };
    const countOf = async (...which: [string, number]) => preparedMetrics(await prepare(...which)).length;
    const fitting = 15_000 / each;
    for (let index = 0; index < fitting; index++) expect(await countOf('default', index)).to.equal(each);
    const beyond = await prepare('default', fitting);
    expect(preparationError(beyond)?.message).to.include('more than 15000 metrics');
    expect(preparedMetrics(beyond)).to.deep.equal([]);
    expect(await countOf('other', 0)).to.equal(each);
    prepared.delete('default/web-0');
    expect(await countOf('default', fitting)).to.equal(each);
    expect(await countOf('default', 0)).to.equal(0);
  });

  it('plans once for each generation, whenever that is', async () => {
    const first = await current(1);
    await clock.advance(3_600_000);
    expect(await current(1)).to.equal(first);
    expect((await current(2)).generation).to.equal(2);
    expect(planned).to.equal(2);
  });

  it('prepares again when authentications change, and every five minutes if there are any', async () => {
    authentications = ['a 1'];
    await current(1);
    authentications = ['a 2'];
    expect(prepared.isCurrent(object(1))).to.equal(false);
    await current(1);
    await clock.advance(299_999);
    await current(1);
    expect(planned).to.equal(2);
    await clock.advance(1);
    await current(1);
    expect(planned).to.equal(3);
  });

  it('retains a trigger that cannot be prepared at the moment, but none of an earlier generation', async () => {
    authentications = ['a 1'];
    await current(1);
    error = new Error('the source is away');
    await clock.advance(300_000);
    const [retained] = (await current(1)).triggers;
    expect([planned, retained?.error, retained?.metrics.length]).to.deep.equal([2, undefined, 1]);
    const [failed] = (await current(2)).triggers;
    expect([failed?.error, failed?.metrics.length]).to.deep.equal([error, 0]);
  });

  it('prepares again on each call while a trigger cannot be prepared', async () => {
    error = new Error('a parameter is missing');
    await current(1);
    expect(prepared.isCurrent(object(1))).to.equal(false);
    await current(1);
    expect(planned).to.equal(2);
  });

  it('has no triggers of a deleted object', async () => {
    await current(1);
    expect([prepared.delete(KEY), prepared.delete(KEY)]).to.deep.equal([true, false]);
    expect([prepared.findTriggers(KEY), prepared.isCurrent(object(1))]).to.deep.equal([undefined, false]);
  });

  function current(generation: number) {
    return prepared.prepareTriggers(object(generation), new AbortController().signal);
  }
});

function object(generation: number): ScaledObject {
  return {
    metadata: { namespace: 'default', name: 'web', uid: 'a', generation },
    spec: { scaleTargetRef: { name: 'web' }, triggers: [{ type: 'queue', metadata: {} }] },
  };
}
