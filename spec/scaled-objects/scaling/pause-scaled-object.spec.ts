import { expect } from 'chai';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { compileScaledObject } from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';
import { pause } from '#lib/scaled-objects/scaling/pause-scaled-object.ts';
import { ScaledObjectStates } from '#lib/scaled-objects/scaling/reconcile-context.ts';

const UID = 'uid-web';

describe('pause', () => {
  it('deletes the HPA of the object, and no other that has its name', async () => {
    expect((await paused({ hpaOwner: UID })).deleted).to.deep.equal(['keda-hpa-web']);
    expect((await paused({ hpaOwner: 'uid-of-another' })).deleted).to.deep.equal([]);
    expect((await paused({ hpaOwner: undefined })).deleted).to.deep.equal([]);
  });

  it('deletes the HPA of its former name and that of its new name, even if the status does not have it yet', async () => {
    const renamed = { hpaOwner: UID, status: { hpaName: 'former' } };
    for (const hpas of [['former'], ['keda-hpa-web'], ['former', 'keda-hpa-web']])
      expect((await paused({ ...renamed, hpas })).deleted).to.deep.equal(hpas);
    expect((await paused({ ...renamed, hpas: ['former'], hpaOwner: 'another' })).deleted).to.deep.equal([]);
  });

  it('resets failure counts, because triggers are not polled meanwhile', async () => {
    const health = { 's0-queue': { numberOfFailures: 4, status: 'Failing' } };
    const { status } = await paused({
      status: { health, triggersActivity: { 's0-queue': { isActive: true } } },
    });
    expect(status).to.not.have.any.keys('health', 'triggersActivity');
  });

  it('accepts a deleted HPA, and no other failure', async () => {
    const refusing = (statusCode: number) => () =>
      Promise.reject(new ApiError('no', { statusCode, reason: undefined, retryAfterMs: undefined }));
    const { status } = await paused({ hpaOwner: UID, remove: refusing(404) });
    expect(status.conditions?.find(({ type }) => type === 'Paused')?.status).to.equal('True');
    const failure = await paused({ hpaOwner: UID, remove: refusing(403) }).catch((error: Error) => error);
    expect(failure).to.be.instanceOf(Error).with.property('name', 'CheckFailure');
  });

  it('fails when the scale cannot be written, and is not paused at that size', async () => {
    const refused = new ApiError('no', { statusCode: 403, reason: undefined, retryAfterMs: undefined });
    const failure = await paused({ replicas: '3', setScale: () => Promise.reject(refused) }).catch(
      (error: Error) => error,
    );
    expect(failure).to.be.instanceOf(Error).with.property('name', 'CheckFailure');
    expect(failure).to.have.property('message', 'failed to scale target to paused replica count: no');
  });

  it('sets the replicas of the annotation unless they are equal, and rejects texts that are not numbers', async () => {
    expect((await paused({ replicas: '3' })).sizes).to.deep.equal([3]);
    expect((await paused({ replicas: '2' })).sizes).to.deep.equal([]);
    expect((await paused({ replicas: '0' })).status.pausedReplicaCount).to.equal(0);
    expect((await paused({})).status).to.not.have.property('pausedReplicaCount');
    for (const replicas of ['', '-1', '1.5', 'many', '2147483648']) {
      const failure = await paused({ replicas }).catch((error: Error) => error.message);
      expect(failure).to.equal(
        `failed to scale target to paused replica count: value "${replicas}" of annotation autoscaling.keda.sh/paused-replicas is not a number of replicas`,
      );
    }
  });
});

/** Pauses an object with an HPA of that owner, whose target has two replicas. */
async function paused({
  hpaOwner,
  hpas = ['keda-hpa-web'],
  status: before,
  replicas,
  remove,
  setScale,
}: {
  readonly hpaOwner?: string | undefined;
  /** The names of existing HPAs. */
  readonly hpas?: readonly string[];
  readonly status?: object;
  /** The annotation with the paused replicas. */
  readonly replicas?: string;
  /** Replaces the deletion of an HPA. */
  readonly remove?: () => Promise<never>;
  /** Replaces the write of the scale. */
  readonly setScale?: () => Promise<never>;
}) {
  const [deleted, sizes]: [string[], number[]] = [[], []];
  const ownerReferences = [{ uid: hpaOwner, controller: true }];
  const hpaOf = (name: string) => ({ metadata: { name, ...(hpaOwner && { ownerReferences }) } });
  const annotations = replicas === undefined ? {} : { 'autoscaling.keda.sh/paused-replicas': replicas };
  const object = {
    metadata: { name: 'web', namespace: 'default', uid: UID, annotations },
    spec: { scaleTargetRef: { name: 'web' }, triggers: [] },
    status: { conditions: [{ type: 'Paused', status: 'True' }], pausedReplicaCount: 7, ...before },
  } as never;
  const status = await pause(object, {
    prepared: compileScaledObject(object),
    ...{ own: { normal() {}, warning() {} }, states: new ScaledObjectStates() },
    hpas: { find: (key: string) => hpas.filter((name) => key === `default/${name}`).map(hpaOf)[0] },
    hpaClient: {
      delete: remove ?? (async ({ metadata }: ReturnType<typeof hpaOf>) => deleted.push(metadata.name)),
    },
    scales: {
      get: async () => ({ specReplicas: 2 }),
      set: setScale ?? (async (_: unknown, size: number) => sizes.push(size)),
    },
    signal: new AbortController().signal,
  } as never);
  return { deleted, sizes, status };
}
