import { expect } from 'chai';
import { z } from 'zod';
import { Collection } from '#lib/collection/collection.ts';
import { MetricStore } from '#lib/collection/metric-store.ts';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { ScaledObject } from '#lib/scaled-objects/api/scaled-object.ts';
import type { MetricState, ObservedMetric } from '#lib/scaled-objects/metrics/metric-state.ts';
import {
  PollChangeDetector,
  ScaledObjectCollectors,
} from '#lib/scaled-objects/metrics/scaled-object-collectors.ts';
import { above, oneMetric, type Trigger } from '#lib/scaled-objects/triggers/trigger.ts';
import { TriggerTypes } from '#lib/scaled-objects/triggers/trigger-registry.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

const KEY = 'default/web';

describe('ScaledObjectCollectors', () => {
  it('do not use the activity of a deleted object for a new one with its name', async () => {
    await using built = new BuiltPlans();
    const { plans } = built;
    await built.reconcile();
    expect(plans.lastActiveAtMs(KEY)).to.be.a('number');
    await built.reconcile();
    expect(plans.lastActiveAtMs(KEY)).to.be.a('number');
    built.waiting = 0;
    const object = scaledObject('b');
    built.object = object;
    await built.reconcile();
    expect(plans.find(KEY, object)?.uid).to.equal('b');
    expect(plans.lastActiveAtMs(KEY)).to.equal(undefined);
  });

  it('serve no values of an object that is deleted, before it is reconciled', async () => {
    await using built = new BuiltPlans();
    await built.reconcile();
    expect(built.served()).to.deep.equal(['5']);
    built.object = undefined;
    expect(built.served()).to.deep.equal([]);
  });

  for (const [what, advanced] of [
    ['values', undefined],
    ['a formula', { scalingModifiers: { formula: 'queue + 1', target: '5' } }],
  ] as const)
    it(`evaluate ${what} in their share of the event loop`, async () => {
      await using built = new BuiltPlans();
      built.object = scaledObject('a', advanced);
      await built.prepare();
      await built.spendShare(300);
      await built.pass(100);
      expect(built.plans.lastActiveAtMs(KEY)).to.equal(undefined);
      await built.pass(1000);
      expect(built.plans.lastActiveAtMs(KEY)).to.be.a('number');
    });
});

/** Plans of one object, and their dependencies. */
class BuiltPlans implements AsyncDisposable {
  /** The value that its trigger's source returns. */
  waiting = 5;
  object: ScaledObject | undefined = scaledObject('a');
  readonly #clock = new ManualClock();
  readonly #store = new MetricStore();
  readonly #collection = new Collection({
    ...{ clock: this.#clock, logger: new RecordingLogger(), random: () => 0 },
    ...{ timeoutMs: 1000, onPolled: () => {} },
  });
  readonly #share = new EventLoopShare(this.#clock);
  readonly plans = new ScaledObjectCollectors({
    ...{ clock: this.#clock, collection: this.#collection, store: this.#store },
    types: new TriggerTypes([this.#trigger()]),
    share: this.#share,
    ...{ reader: {} as never, readTarget: async () => undefined, authenticationsOf: () => [] },
    objects: { find: () => this.object, onChange: () => () => {}, synced: async () => {} },
    related: [],
    workloads: { find: () => undefined } as never,
    scales: { get: async () => expect.fail('nothing needs it') },
  });

  #trigger(): Trigger {
    return {
      ...{
        types: ['queue'],
        scalerName: () => 'queueScaler',
        description: 'A queue.',
        parameters: z.object({}),
      },
      plan: () => {
        const run = async () => [{ value: this.waiting, labels: {} }];
        const query = { key: 'queue', description: 'a queue', run };
        return oneMetric({ name: 'queue', query, target: 5, evaluate: above(0) });
      },
    };
  }

  async reconcile(): Promise<void> {
    await this.prepare();
    await this.pass(1000);
  }

  async prepare(): Promise<void> {
    await this.plans.controller().reconcile(KEY, new AbortController().signal);
  }

  async pass(durationMs: number): Promise<void> {
    await this.#clock.advance(durationMs);
  }

  /** Uses the event loop share for this long, which then pauses. */
  async spendShare(durationMs: number): Promise<void> {
    await this.#share.next(new AbortController().signal);
    await this.#clock.jump(durationMs);
  }

  /** The values that an HPA gets. */
  served() {
    const query = { metric: 's0-queue', selector: parseLabelSelector('') };
    return this.#store.values('default', query)?.map(({ value }) => value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.plans[Symbol.dispose]();
    await this.#collection[Symbol.asyncDispose]();
  }
}

function scaledObject(uid: string, advanced?: ScaledObject['spec']['advanced']): ScaledObject {
  return {
    metadata: { namespace: 'default', name: 'web', uid, generation: 1 },
    spec: {
      scaleTargetRef: { name: 'web' },
      triggers: [{ type: 'queue', name: 'queue', metadata: {} }],
      ...(advanced && { advanced }),
    },
  };
}

const value = (isActive: boolean, ...values: number[]): MetricState => ({
  ...{ kind: 'value', values, isActive, atMs: 0 },
});
const observed = (state: MetricState): readonly ObservedMetric[] => [
  { state, isPushed: false, metric: { metricName: 's0-queue' }, trigger: {} } as unknown as ObservedMetric,
];

describe('PollChangeDetector', () => {
  it('distinguishes unchanged from changed results', () => {
    const received = new PollChangeDetector();
    const isUnchanged = (state: MetricState, monotonicMs: number, countsValues = false) => {
      const isActive = state.kind === 'value' && state.isActive;
      return received.isUnchanged('n/web', observed(state), { monotonicMs, countsValues, isActive });
    };
    expect(isUnchanged({ kind: 'pending' }, 1)).to.equal(false);
    expect(received.lastActiveAtMs('n/web')).to.equal(undefined);
    expect(isUnchanged(value(true, 7), 2)).to.equal(false);
    expect(received.lastActiveAtMs('n/web')).to.equal(2);
    expect(isUnchanged(value(true, 8), 3)).to.equal(true);
    expect(isUnchanged(value(false, 0), 4)).to.equal(false);
    expect(isUnchanged(value(false, 0), 4)).to.equal(true);
    expect(received.lastActiveAtMs('n/web')).to.equal(3); // a result without demand is no activity
    expect(isUnchanged(value(false, 0), 5, true)).to.equal(false);
    expect(isUnchanged(value(false, 1), 6, true)).to.equal(false);
    expect(isUnchanged(value(false, 1), 7, true)).to.equal(true);
    received.delete('n/web');
    expect(received.lastActiveAtMs('n/web')).to.equal(undefined);
  });

  it('reports when a push begins and ceases to count', () => {
    const received = new PollChangeDetector();
    const isUnchanged = (isPushed: boolean) =>
      received.isUnchanged(
        'n/web',
        observed(value(false, 0)).map((one) => ({ ...one, isPushed })),
        { monotonicMs: 1, countsValues: false, isActive: isPushed },
      );
    expect([false, false, true, true, false].map(isUnchanged)).to.deep.equal([
      false,
      true,
      false,
      true,
      false,
    ]);
  });

  it('isUnchanged no failure: each is counted', () => {
    const received = new PollChangeDetector();
    const failing: MetricState = { kind: 'failing', error: new Error('gone') };
    const isUnchanged = (state: MetricState) =>
      received.isUnchanged('n/web', observed(state), {
        monotonicMs: 1,
        countsValues: false,
        isActive: false,
      });
    expect([isUnchanged(failing), isUnchanged(failing)]).to.deep.equal([false, false]);
    expect([isUnchanged(value(true, 1)), isUnchanged(failing), isUnchanged(value(true, 1))]).to.deep.equal([
      false,
      false,
      false,
    ]);
  });
});
