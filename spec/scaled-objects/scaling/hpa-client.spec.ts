import { expect } from 'chai';
import type { ManagedHpa } from '#lib/scaled-objects/api/informers.ts';
import type { DesiredHpa } from '#lib/scaled-objects/scaling/desired-hpa.ts';
import { HpaClient, type WrittenHpa } from '#lib/scaled-objects/scaling/hpa-client.ts';

const OWNER = { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name: 'web', uid: 'u' };
const DESIRED = {
  metadata: { name: 'keda-hpa-web', namespace: 'shop', labels: { a: '1' }, ownerReferences: [OWNER] },
  spec: { maxReplicas: 3, scaleTargetRef: { name: 'web' } },
} as unknown as DesiredHpa;
const { signal } = new AbortController();

describe('HpaClient', () => {
  const requested: unknown[][] = [];
  const client = new HpaClient({
    apply: async (...given: unknown[]) => {
      requested.push(given);
      return { metadata: { name: 'keda-hpa-web', resourceVersion: '9' } };
    },
    delete: async (...given: unknown[]) => void requested.push(given),
  } as never);
  const applied = async (
    found: ManagedHpa | undefined,
    written: WrittenHpa | undefined = undefined,
    desired = DESIRED,
  ) => {
    requested.splice(0);
    const result = await client.apply(desired, { found, written }, signal);
    return { ...result, writes: requested.length };
  };

  it('creates a missing HPA with all fields, as its own field manager', async () => {
    const { hpa, written, writes } = await applied(undefined);
    expect([hpa.metadata.resourceVersion, writes]).to.deep.equal(['9', 1]);
    expect(written).to.deep.equal({ text: JSON.stringify(DESIRED), resourceVersion: '9' });
    expect(requested[0]).to.deep.equal([
      DESIRED,
      { fieldManager: 'autoscaler-scaledobject', force: true, signal },
    ]);
  });

  it('writes nothing if its own fields are unchanged, even if other clients have written', async () => {
    const found = hpaWith({ labels: { a: '1' }, owners: true, spec: DESIRED.spec });
    const { hpa, written, writes } = await applied(found);
    expect([hpa, writes]).to.deep.equal([found, 0]);
    expect(written).to.deep.equal({ text: JSON.stringify(DESIRED), resourceVersion: '4' });
  });

  it('writes again if a label, an annotation, an owner or a field of the spec differs', async () => {
    const spec = DESIRED.spec;
    for (const found of [
      hpaWith({ labels: { a: '2' }, owners: true, spec }),
      hpaWith({ labels: { a: '1', b: '1' }, owners: true, spec }),
      hpaWith({ labels: { a: '1' }, owners: false, spec }),
      hpaWith({ labels: { a: '1' }, owners: true, spec: { ...spec, maxReplicas: 4 } as never }),
      { metadata: { name: 'keda-hpa-web', resourceVersion: '4' } },
    ])
      expect((await applied(found)).writes, JSON.stringify(found)).to.equal(1);
    const found = hpaWith({ labels: { a: '1' }, owners: true, spec });
    const annotated = { ...DESIRED, metadata: { ...DESIRED.metadata, annotations: { note: 'x' } } };
    expect((await applied(found, undefined, annotated as never)).writes).to.equal(1);
  });

  it('regards its own write as current while no client has written since', async () => {
    const found = { metadata: { name: 'keda-hpa-web', resourceVersion: '4' } };
    const text = JSON.stringify(DESIRED);
    expect((await applied(found, { text, resourceVersion: '4' })).writes).to.equal(0);
    expect((await applied(found, { text, resourceVersion: '3' })).writes).to.equal(1);
    expect((await applied(found, { text: '{}', resourceVersion: '4' })).writes).to.equal(1);
  });

  it('deletes only the HPA with the same UID', async () => {
    requested.splice(0);
    await client.delete({ metadata: { namespace: 'shop', name: 'a', uid: 'u' } }, signal);
    await client.delete({ metadata: { name: 'b' } }, signal);
    expect(requested).to.deep.equal([
      [
        { namespace: 'shop', name: 'a' },
        { signal, preconditions: { uid: 'u' } },
      ],
      [{ namespace: '', name: 'b' }, { signal }],
    ]);
  });
});

/** An HPA in which we own these fields. */
function hpaWith({ labels, owners, spec }: { labels: object; owners: boolean; spec: object }): ManagedHpa {
  const fields = (value: object): object =>
    Object.fromEntries(
      Object.entries(value).map(([key, one]) => [
        `f:${key}`,
        typeof one === 'object' && one !== null ? fields(one) : {},
      ]),
    );
  const metadata = {
    'f:labels': fields(labels),
    ...(owners && { 'f:ownerReferences': { 'k:{"uid":"u"}': {} } }),
  };
  return {
    metadata: {
      ...{ name: 'keda-hpa-web', resourceVersion: '4', labels: { ...labels, others: 'x' } },
      ...(owners && { ownerReferences: [OWNER] }),
      managedFields: [
        {
          ...{ manager: 'autoscaler-scaledobject', operation: 'Apply', fieldsType: 'FieldsV1' },
          fieldsV1: { 'f:metadata': metadata, 'f:spec': fields(spec) },
        },
      ],
    },
    spec,
  } as unknown as ManagedHpa;
}
