import { expect } from 'chai';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { compileScaledObject } from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';
import { ensureHpa } from '#lib/scaled-objects/scaling/ensure-hpa.ts';
import { ScaledObjectStates } from '#lib/scaled-objects/scaling/reconcile-context.ts';
import { UnreadReference } from '#lib/scaled-objects/triggers/authentication/reference-reader.ts';
import { CheckFailure } from '#lib/scaled-objects/validation/check-failure.ts';
import { preparedTrigger } from '#spec/support/scaled-object-reports.ts';

const HPA = 'failed to ensure HPA is correctly created for ScaledObject';
const RESOURCE = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};
const apiError = (statusCode: number) =>
  new ApiError('no', { statusCode, reason: undefined, retryAfterMs: undefined });

describe('ensureHpa', () => {
  const start = () => {
    const reported: string[] = [];
    const note = (...words: readonly string[]) => void reported.push(words.join(' '));
    const states = new ScaledObjectStates();
    const state = {
      triggers: [preparedTrigger('redis', { name: 'q', metric: { metricName: 's0-q' } })] as
        | ReturnType<typeof preparedTrigger>[]
        | undefined,
      hpas: {} as Record<string, object>,
      refusal: undefined as Error | undefined,
      deletion: undefined as Error | undefined,
      signal: new AbortController().signal,
    };
    const prepared = async (spec: object = {}, more: object = {}) => {
      reported.splice(0);
      const trigger = { type: 'redis', name: 'q', metadata: {} };
      const object = {
        metadata: { namespace: 'shop', name: 'web', uid: 'u', generation: 1, ...more },
        spec: { scaleTargetRef: { name: 'web' }, triggers: [trigger], ...spec },
        status: { hpaName: 'keda-hpa-web' },
      };
      return await ensureHpa(
        object as never,
        {
          prepared: compileScaledObject(object as never),
          ...{ key: 'shop/web', states, version: '1', signal: state.signal },
          own: { normal: note, warning: note },
          scales: { get: async () => ({ specReplicas: 2, resource: RESOURCE }) },
          workloads: { find: () => undefined },
          objects: { overlapping: () => [] },
          hpas: { overlapping: () => [], find: (key: string) => state.hpas[key] },
          limitedByDefault: async () => [],
          plans: {
            find: () => state.triggers && { triggers: state.triggers },
          },
          hpaClient: {
            apply: async (expected: { metadata: { name: string } }) => {
              if (state.refusal) throw state.refusal;
              reported.push(`apply ${expected.metadata.name}`);
              return { hpa: expected, written: { text: 'written', resourceVersion: '1' } };
            },
            delete: async ({ metadata }: { metadata: { name: string } }) => {
              if (state.deletion) throw state.deletion;
              reported.push(`delete ${metadata.name}`);
            },
          },
        } as never,
      );
    };
    const failure = async (spec: object = {}) =>
      await prepared(spec).then(
        () => 'no failure',
        (error: Error) => (error instanceof CheckFailure ? error.message : `${error}`),
      );
    return { reported, states, state, prepared, failure };
  };
  const hpaOf = (uid: string, target = 'web') => ({
    metadata: { name: 'old', ownerReferences: [{ uid, controller: true }] },
    spec: { scaleTargetRef: { name: target } },
  });
  const begun = [
    ...['apply keda-hpa-web', 'KEDAScalersStarted Started scalers watch'],
    'KEDAScalersStarted Scaler redis is built',
  ];

  it('applies an HPA, and reports its triggers once for each generation', async () => {
    const { reported, states, prepared } = start();
    const found = await prepared();
    expect(found).to.deep.include({ target: { replicas: 2, resource: RESOURCE }, isRetargeted: false });
    expect(reported).to.deep.equal(begun);
    expect(states.of('shop/web').hpa).to.deep.equal({ text: 'written', resourceVersion: '1' });
    await prepared();
    expect(reported).to.deep.equal(['apply keda-hpa-web']);
    await prepared({}, { generation: 2 });
    expect(reported).to.deep.equal(begun);
    await prepared({ minReplicaCount: 1, cooldownPeriod: 5 }, { generation: 3 });
    expect(reported.at(-1)).to.match(/^KEDAScalerInfo CooldownPeriod is configured but is not relevant/);
  });

  it('waits for prepared triggers, and for references that cannot be read at the moment', async () => {
    const { reported, state, prepared } = start();
    state.triggers = undefined;
    expect(await prepared()).to.equal(undefined);
    state.triggers = [preparedTrigger('redis', { error: new UnreadReference('down') })];
    expect(await prepared()).to.equal(undefined);
    expect(reported).to.deep.equal([]);
  });

  it('fails for a trigger that cannot be prepared, and reports each cause once, with another reason for a formula', async () => {
    const { reported, state, failure } = start();
    const broken = (message: string) => [preparedTrigger('redis', { error: new Error(message) })];
    state.triggers = broken('no queue');
    expect(await failure()).to.equal(`${HPA}: no queue`);
    expect(reported).to.deep.equal(['KEDAScalerFailed no queue']);
    expect(await failure()).to.equal(`${HPA}: no queue`);
    expect(reported).to.deep.equal([]);
    state.triggers = broken('no host');
    await failure({ advanced: { scalingModifiers: { formula: 'q', target: '1' } } });
    expect(reported).to.deep.equal(['KEDAMetricSourceFailed no host']);
  });

  it('reports why its HPA cannot be written, except when it stops', async () => {
    const { state, failure } = start();
    state.refusal = new Error('the quota is used up');
    expect(await failure()).to.equal(`${HPA}: the quota is used up`);
    state.signal = AbortSignal.abort(new Error('over'));
    expect(await failure()).to.equal('Error: over');
  });

  it('deletes the HPA of its former name, if that is its own', async () => {
    const { reported, state, prepared, failure } = start();
    const renamed = { advanced: { horizontalPodAutoscalerConfig: { name: 'new' } } };
    state.hpas = { 'shop/keda-hpa-web': hpaOf('u') };
    await prepared(renamed);
    expect(reported.slice(0, 2)).to.deep.equal(['delete old', 'apply new']);
    state.deletion = apiError(404);
    expect(await failure(renamed)).to.equal('no failure');
    state.deletion = apiError(403);
    expect(await failure(renamed)).to.equal(`${HPA}: no`);
    state.hpas = { 'shop/keda-hpa-web': hpaOf('another') };
    await prepared(renamed);
    expect(reported).to.deep.equal(['apply new']);
    state.hpas = { 'shop/keda-hpa-web': hpaOf('u') };
    await prepared();
    expect(reported).to.deep.equal(['apply keda-hpa-web']);
  });

  it('notices that its HPA has scaled another target, once a generation', async () => {
    const isRetargeted = async (hpa: object) => {
      const { state, prepared } = start();
      state.hpas = { 'shop/keda-hpa-web': hpa };
      const first = (await prepared())?.isRetargeted;
      return [first, (await prepared())?.isRetargeted];
    };
    expect(await isRetargeted(hpaOf('u', 'other'))).to.deep.equal([true, false]);
    expect(await isRetargeted(hpaOf('u'))).to.deep.equal([false, false]);
    expect(await isRetargeted(hpaOf('another', 'other'))).to.deep.equal([false, false]);
  });
});
