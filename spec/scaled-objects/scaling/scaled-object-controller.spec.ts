import { expect } from 'chai';
import { compileScaledObject } from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';
import { ScaledObjectStates } from '#lib/scaled-objects/scaling/reconcile-context.ts';
import { finalize, scaledObjectController } from '#lib/scaled-objects/scaling/scaled-object-controller.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

describe('scaledObjectController', () => {
  it('discards the state of a deleted object, so that a new one with its name starts its own cooldown', async () => {
    const states = new ScaledObjectStates();
    Object.assign(states.of('default/web'), { startedGeneration: 1, lastActiveAtMs: 7 });
    Object.assign(states.of('default/other'), { lastActiveAtMs: 8 });
    const controller = scaledObjectController({
      ...{ objects: { find: () => undefined }, related: [], plans: { changed: {} }, states },
    } as never);
    expect(await controller.reconcile('default/web', new AbortController().signal)).to.deep.equal({});
    const { startedGeneration, lastActiveAtMs } = states.of('default/web');
    expect([startedGeneration, lastActiveAtMs]).to.deep.equal([undefined, undefined]);
    expect(states.of('default/other').lastActiveAtMs).to.equal(8);
  });
});

describe('finalize', () => {
  const finalized = async ({
    status = { originalReplicaCount: 5, scaleTargetGVKR: {} },
    restores = true,
    states = new ScaledObjectStates(),
    ...more
  }: {
    status?: object;
    restores?: boolean;
    states?: ScaledObjectStates;
    finalizers?: readonly string[];
    replicas?: number;
    scale?: () => Promise<never>;
    signal?: AbortSignal;
    isStarted?: boolean;
  } = {}) => {
    const done: string[] = [];
    const logger = new RecordingLogger();
    if (more.isStarted) states.of('shop/web').startedGeneration = 1;
    const { finalizers = ['finalizer.keda.sh', 'other'] } = more;
    const note = (...words: string[]) => void done.push(words.join(' '));
    const object = {
      metadata: { namespace: 'shop', name: 'web', uid: 'u', resourceVersion: '1', finalizers },
      spec: {
        ...{ scaleTargetRef: { name: 'web' }, triggers: [] },
        advanced: { restoreToOriginalReplicaCount: restores },
      },
      status,
    } as never;
    await finalize(object, {
      prepared: compileScaledObject(object),
      client: {
        patch: async (_: object, { body }: { body: unknown }) => {
          done.push(`patch ${JSON.stringify(body).includes('finalizer')}`);
          return { metadata: { name: 'web' } };
        },
      },
      scales: {
        get: more.scale ?? (async () => ({ specReplicas: more.replicas ?? 2 })),
        set: async (_: object, size: number) => void done.push(`scale to ${size}`),
      },
      ...{ clock: new ManualClock(), own: { normal: note, warning: note }, states, logger },
      signal: more.signal ?? new AbortController().signal,
    } as never);
    return { done, lines: logger.lines };
  };
  const gone = 'ScaledObjectDeleted ScaledObject was deleted';

  it('restores the original replicas if configured, and removes the finalizer', async () => {
    expect((await finalized()).done).to.deep.equal(['scale to 5', 'patch true', gone]);
    expect((await finalized({ isStarted: true })).done).to.deep.equal([
      ...['KEDAScalersStopped Stopped scalers watch', 'scale to 5', 'patch true', gone],
    ]);
  });

  it('does not scale the target if that is not configured, unknown or unnecessary', async () => {
    for (const given of [
      { restores: false },
      { replicas: 5 },
      { status: { scaleTargetGVKR: {} } },
      { status: { originalReplicaCount: 5 } },
      { status: {} },
    ])
      expect((await finalized(given)).done, JSON.stringify(given)).to.deep.equal(['patch true', gone]);
    expect((await finalized({ finalizers: ['other'] })).done).to.deep.equal([]);
  });

  it('removes the finalizer once, even while the informer still has it', async () => {
    const states = new ScaledObjectStates();
    expect((await finalized({ states })).done).to.have.lengthOf(3);
    expect((await finalized({ states })).done).to.deep.equal([]);
  });

  it('removes the finalizer even if its target cannot be restored, and logs that, except when it stops', async () => {
    const scale = () => Promise.reject(new Error('refused'));
    const { done, lines } = await finalized({ scale });
    expect(done).to.deep.equal(['patch true', gone]);
    expect(JSON.stringify(lines)).to.match(/Cannot restore the original replicas of target.*shop\/web/);
    const error = await finalized({ scale, signal: AbortSignal.abort(new Error('over')) }).catch(String);
    expect(error).to.equal('Error: over');
  });
});
