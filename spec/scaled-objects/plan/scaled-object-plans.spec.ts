import { expect } from 'chai';
import { z } from 'zod';
import { Collection } from '#lib/collection/collection.ts';
import { MetricStore } from '#lib/collection/metric-store.ts';
import type { ScaledObject } from '#lib/scaled-objects/objects/scaled-object.ts';
import { ScaledObjectPlans } from '#lib/scaled-objects/plan/scaled-object-plans.ts';
import { above, oneMetric, type Trigger } from '#lib/scaled-objects/triggers/trigger.ts';
import { TriggerTypes } from '#lib/scaled-objects/triggers/trigger-types.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

const KEY = 'default/web';

describe('ScaledObjectPlans', () => {
  it('take no activity of an object for that of another which has its name now', async () => {
    const clock = new ManualClock();
    const logger = new RecordingLogger();
    await using collection = new Collection({
      ...{ clock, logger, random: () => 0, timeoutMs: 1000, onAsked: () => {} },
    });
    let waiting = 5;
    const trigger: Trigger = {
      ...{ types: ['queue'], description: 'A queue.', parameters: z.object({}) },
      plan() {
        const ask = async () => [{ value: waiting, labels: {} }];
        const query = { key: 'queue', description: 'a queue', ask };
        return oneMetric({ name: 'queue', query, target: 5, judge: above(0) });
      },
    };
    let object = scaledObject('a');
    using plans = new ScaledObjectPlans({
      ...{ clock, collection, types: new TriggerTypes([trigger]), store: new MetricStore() },
      ...{ reader: {} as never, readTarget: async () => undefined, authenticationsOf: () => [] },
      objects: { find: () => object, onChange: () => () => {}, synced: async () => {} },
      others: [],
      workloads: { find: () => undefined } as never,
      scales: { get: async () => expect.fail('nobody needs it') },
    });
    const reconcile = async () => {
      await plans.controller().reconcile(KEY, new AbortController().signal);
      await clock.advance(1000);
    };
    await reconcile();
    expect(plans.lastActiveAtMs(KEY)).to.be.a('number');
    await reconcile();
    expect(plans.lastActiveAtMs(KEY)).to.be.a('number');
    waiting = 0;
    object = scaledObject('b');
    await reconcile();
    expect(plans.find(KEY, object)?.uid).to.equal('b');
    expect(plans.lastActiveAtMs(KEY)).to.equal(undefined);
  });
});

function scaledObject(uid: string): ScaledObject {
  return {
    metadata: { namespace: 'default', name: 'web', uid, generation: 1 },
    spec: { scaleTargetRef: { name: 'web' }, triggers: [{ type: 'queue', metadata: {} }] },
  };
}
