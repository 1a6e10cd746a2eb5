import { expect } from 'chai';
import { z } from 'zod';
import { Collection } from '#lib/collection/collection.ts';
import { MetricStore } from '#lib/collection/metric-store.ts';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { nameOfKey } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { ScaledObject } from '#lib/scaled-objects/api/scaled-object.ts';
import { ScaledObjectCollectors } from '#lib/scaled-objects/metrics/scaled-object-collectors.ts';
import type { Trigger } from '#lib/scaled-objects/triggers/trigger.ts';
import { TriggerTypes } from '#lib/scaled-objects/triggers/trigger-registry.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { shareOfSlowSteps } from '#spec/support/share-of-slow-steps.ts';

const KEY = 'default/web';
const POLLING_S = 30;

describe('ScaledObjectCollectors, of an object with many triggers', () => {
  for (const count of [1, 10, 100])
    it(`evaluates ${count} metrics at most 100 times per second and twice per poll`, async () => {
      await using built = new ManyTriggers(count);
      await built.reconcile();
      await built.clock.advance(10 * POLLING_S * 1000);
      const polls = built.requested;
      expect(polls).to.be.at.least(9 * count);
      expect(built.judged).to.be.at.least(10);
      expect(built.judged).to.be.at.most(10 * POLLING_S * 100);
      built.judged = 0;
      // Simultaneous polls are evaluated together, any number of them.
      built.requestAll();
      await built.clock.advance(1);
      await built.clock.advance(10 * count);
      expect(built.requested - polls).to.be.at.least(count);
      expect(built.judged).to.be.at.most(2 * count);
    });

  it('evaluates objects that share polls one after another', async () => {
    await using built = new ManyTriggers(10, { share: shareOfSlowSteps() });
    for (let index = 0; index < 20; index++) await built.reconcile(`default/web-${index}`);
    await built.clock.advance(POLLING_S * 1000);
    built.judged = 0;
    built.judgedByTurn.clear();
    built.requestAll('default/web-0');
    for (let turn = 0; turn < 100; turn++) await built.clock.advance(100);
    expect(Math.max(...built.judgedByTurn.values())).to.equal(10);
  });

  it('evaluates only the requested metric', async () => {
    await using built = new ManyTriggers(100);
    await built.reconcile();
    await built.clock.advance(POLLING_S * 1000);
    built.judged = 0;
    expect(built.served('s7-queue')).to.deep.equal(['7']);
    expect(built.judged).to.equal(1);
  });

  it('reads the formula no more after the object was reconciled, by whichever poll or request', async () => {
    await using built = new ManyTriggers(10, { formula: 'm1 + m2' });
    await built.reconcile();
    const { formulaReads } = built;
    expect(formulaReads).to.be.at.least(1);
    await built.clock.advance(POLLING_S * 1000);
    built.valueOf = () => 4;
    built.requestAll();
    await built.clock.advance(1000);
    expect(built.served('composite-metric')).to.deep.equal(['8']);
    expect(built.formulaReads).to.equal(formulaReads);
  });

  it('takes in a change at the end of the pause at the latest', async () => {
    await using built = new ManyTriggers(100);
    await built.reconcile();
    await built.clock.advance(POLLING_S * 1000);
    const changed: string[] = [];
    built.plans.changed.onChange(({ key }) => void changed.push(key));
    built.valueOf = (index) => (index === 99 ? 0 : index);
    built.requestAll();
    await built.clock.advance(1000);
    expect(changed).to.include(KEY);
    expect(built.plans.activity(KEY)?.of('s99-queue')).to.deep.include({ isActive: false });
  });

  it('polls nothing for an object with more than 100', async () => {
    await using built = new ManyTriggers(101);
    await built.reconcile();
    await built.clock.advance(POLLING_S * 1000);
    expect([built.planned, built.requested]).to.deep.equal([0, 0]);
  });
});

/** Plans of one object, with counts of the work for it. */
class ManyTriggers implements AsyncDisposable {
  planned = 0;
  requested = 0;
  judged = 0;
  /** By iteration of the event loop. */
  readonly judgedByTurn = new Map<number, number>();
  formulaReads = 0;
  valueOf = (index: number): number => index;
  readonly clock = new ManualClock();
  readonly #count: number;
  readonly #store = new MetricStore();
  readonly #collection: Collection;
  readonly plans: ScaledObjectCollectors;

  constructor(
    count: number,
    { formula, share }: { readonly formula?: string; readonly share?: EventLoopShare } = {},
  ) {
    this.#count = count;
    const { clock } = this;
    const logger = new RecordingLogger();
    let drawn = 0;
    const random = () => (drawn++ % 97) / 97; // spreads polls
    this.#collection = new Collection({ clock, logger, random, timeoutMs: 1000, onPolled: () => {} });
    const object = scaledObject(count);
    const onRead = () => void this.formulaReads++;
    if (formula !== undefined) {
      const scalingModifiers = {
        get formula() {
          onRead();
          return formula;
        },
        target: '5',
      };
      Object.assign(object.spec, { advanced: { scalingModifiers } });
    }
    const objects = new Map([[KEY, object]]);
    const objectOf = (key: string) => {
      const found = objects.get(key) ?? named(object, nameOfKey(key).name);
      objects.set(key, found);
      return found;
    };
    this.plans = new ScaledObjectCollectors({
      ...{ clock, collection: this.#collection, store: this.#store },
      types: new TriggerTypes([this.#trigger()]),
      share: share ?? new EventLoopShare(this.clock),
      ...{ reader: {} as never, readTarget: async () => undefined, authenticationsOf: () => [] },
      objects: { find: objectOf, onChange: () => () => {}, synced: async () => {} },
      related: [],
      workloads: { find: () => undefined } as never,
      scales: { get: async () => expect.fail('nothing needs it') },
    });
  }

  #trigger(): Trigger {
    return {
      ...{
        types: ['queue'],
        scalerName: () => 'queueScaler',
        description: 'A queue.',
        parameters: z.object({}),
        takesAnyKey: true,
      },
      plan: ({ metadata }) => {
        this.planned++;
        const index = Number(metadata.index);
        const run = async () => {
          this.requested++;
          return [{ value: this.valueOf(index), labels: {} }];
        };
        const query = { key: `queue ${index}`, description: 'a queue', run };
        const evaluate = (samples: readonly { readonly value: number }[]) => {
          this.judged++;
          const turn = performance.nodeTiming.uvMetricsInfo.loopCount;
          this.judgedByTurn.set(turn, (this.judgedByTurn.get(turn) ?? 0) + 1);
          const values = samples.map(({ value }) => value);
          return { values, isActive: values.some((value) => value > 0) };
        };
        return { kind: 'external', metrics: [{ name: 'queue', query, target: 5, evaluate }] };
      },
    };
  }

  async reconcile(key = KEY): Promise<void> {
    await this.plans.controller().reconcile(key, new AbortController().signal);
    await this.clock.advance(0);
  }

  requestAll(key = KEY): void {
    for (let index = 0; index < this.#count; index++) this.#collection.pollNow(key, `s${index}-queue`);
  }

  /** The values that an HPA gets. */
  served(metric: string) {
    const query = { metric, selector: parseLabelSelector('') };
    return this.#store.values('default', query)?.map(({ value }) => value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.plans[Symbol.dispose]();
    await this.#collection[Symbol.asyncDispose]();
  }
}

function named(object: ScaledObject, name: string): ScaledObject {
  return { ...object, metadata: { ...object.metadata, name } };
}

function scaledObject(count: number): ScaledObject {
  const triggers = Array.from({ length: count }, (_, index) => ({
    ...{ type: 'queue', name: `m${index}`, metadata: { index: `${index}` } },
  }));
  return {
    metadata: { namespace: 'default', name: 'web', uid: 'a', generation: 1 },
    spec: { scaleTargetRef: { name: 'web' }, pollingInterval: POLLING_S, triggers },
  };
}
