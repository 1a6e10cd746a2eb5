import { expect } from 'chai';
import fc from 'fast-check';
import { mergePatch, plainStatus, StatusWriter } from '#lib/control/status-writer.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { systemClock } from '#lib/time/clock.ts';
import { type SimulatedApi, startSimulatedApi, WIDGETS, type Widget } from '#spec/support/simulated-api.ts';
import { startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';
import { WIDGETS as DEFINITION } from '#spec/support/widget-definition.ts';

const NAME = { namespace: 'default', name: 'a' };
const STATUS = { subresource: 'status' } as const;

type Fields = Record<string, unknown>;

interface Sized {
  readonly size?: number;
  readonly note?: string;
}

describe('StatusWriter', () => {
  let served: SimulatedApi;
  let writer: StatusWriter<object, Widget>;
  let widget: Widget;

  beforeEach(async () => {
    served = await startSimulatedApi();
    writer = new StatusWriter({ client: served.widgets, fieldManager: 'spec', clock: systemClock });
    widget = await served.widgets.create({ metadata: NAME, spec: { size: 3 } });
  });

  afterEach(async () => await served[Symbol.asyncDispose]());

  it('writes a status, and nothing else of the object', async () => {
    const after = await writer.apply(widget, { size: 3, note: undefined });
    expect(after.status).to.deep.equal({ size: 3 });
    expect(after.spec).to.deep.equal({ size: 3 });
    expect(after.metadata.generation).to.equal(widget.metadata.generation);
  });

  it('writes nothing where nothing changed', async () => {
    const after = await writer.apply(widget, { size: 3, note: undefined });
    expect(await writer.apply(after, { size: 3, note: undefined })).to.equal(after);
    expect(await served.widgets.get(NAME)).to.deep.equal(after);
    expect(await writer.apply(widget, {})).to.equal(widget);
  });

  it('removes fields that it wrote before, and preserves those of others', async () => {
    const first = await writer.apply(widget, { size: 3, note: 'growing' });
    const other = new StatusWriter<object, Widget>({
      client: served.widgets,
      fieldManager: 'other',
      clock: systemClock,
    });
    const both = await other.apply(first, { theirs: true });
    expect(both.status).to.deep.equal({ size: 3, note: 'growing', theirs: true });
    expect((await writer.apply(both, { size: 4 })).status).to.deep.equal({ size: 4, theirs: true });
  });

  it("writes nothing where others' fields alone have changed", async () => {
    const status = { size: 3, nested: { ours: 1 } };
    const first = await writer.apply(widget, status);
    const other = new StatusWriter<object, Widget>({
      client: served.widgets,
      fieldManager: 'other',
      clock: systemClock,
    });
    const both = await other.apply(first, { theirs: true, nested: { theirs: 2 } });
    expect(await writer.apply(both, status)).to.equal(both);
    const updated = await served.widgets.update(
      { ...both, status: { ...both.status, edited: 1 } },
      { subresource: 'status', fieldManager: 'editor' },
    );
    expect(await writer.apply(updated, status)).to.equal(updated);
  });

  it('writes again what another has changed of ours, or taken away', async () => {
    const first = await writer.apply(widget, { size: 3, note: 'ours' });
    const changed = await served.widgets.update(
      { ...first, status: { note: 'theirs' } },
      { subresource: 'status', fieldManager: 'editor' },
    );
    expect((await writer.apply(changed, { size: 3, note: 'ours' })).status).to.deep.equal({
      size: 3,
      note: 'ours',
    });
  });

  it('takes ownership of a field that another manager has written', async () => {
    const theirs = await new StatusWriter<object, Widget>({
      client: served.widgets,
      fieldManager: 'other',
      clock: systemClock,
    }).apply(widget, { size: 9 });
    expect((await writer.apply(theirs, { size: 3 })).status).to.deep.equal({ size: 3 });
  });

  it('writes nothing to another object that has the name now, and makes none', async () => {
    await served.widgets.delete(NAME);
    const gone = await writer.apply(widget, { size: 3 }).catch((error: unknown) => error);
    expect(gone).to.be.instanceOf(ApiError).and.have.property('statusCode', 404);
    await served.widgets.create({ metadata: NAME });
    const replaced = await writer.apply(widget, { size: 3 }).catch((error: unknown) => error);
    expect(replaced).to.be.instanceOf(ApiError).and.have.property('statusCode', 422);
    expect(await served.widgets.get(NAME)).not.to.have.property('status');
  });

  it('writes no empty strings, which Kubernetes 1.20 turns into nulls and refuses', async () => {
    const scenario = { nodes: 0, kubernetesMinor: 20 };
    await using old = await startSimulatedApiServer({ definitions: [DEFINITION], scenario });
    await using api = new ApiClient({ access: await old.access(), clock: old.clock, userAgent: 'spec' });
    const resource = { ...WIDGETS, group: 'example.com' };
    const client = new ResourceClient<Widget>({ api, resource });
    const made = await client.create({ metadata: NAME, spec: { colour: 'red' } });
    const conditions = [{ type: 'Ready', status: 'True', reason: '' }];
    const status = { selector: '', replicas: 0, conditions };
    const raw = await client
      .apply({ metadata: NAME, status }, { fieldManager: 'raw', subresource: 'status' })
      .catch((error: unknown) => error);
    expect(raw).to.be.instanceOf(ApiError).and.have.property('statusCode', 422);

    const over = new StatusWriter<object, Widget>({ client, fieldManager: 'spec', clock: systemClock });
    const after = await over.apply(made, status);
    expect(after.status).to.deep.equal({ replicas: 0, conditions: [{ type: 'Ready', status: 'True' }] });
    expect(await over.applyOver(after, { ...status, selector: null })).to.equal(after);
  });

  it('writes nothing for an unchanged status with Kubernetes 1.20, whose entries have no subresource', async () => {
    const scenario = { nodes: 0, kubernetesMinor: 20 };
    await using old = await startSimulatedApiServer({ definitions: [DEFINITION], scenario });
    await using api = new ApiClient({ access: await old.access(), clock: old.clock, userAgent: 'spec' });
    const resource = { ...WIDGETS, group: 'example.com' };
    const client = new ResourceClient<Widget>({ api, resource });
    const made = await client.create({ metadata: NAME, spec: { colour: 'red' } });
    const over = new StatusWriter<object, Widget>({ client, fieldManager: 'spec', clock: systemClock });
    const after = await over.apply(made, { replicas: 3 });
    expect(JSON.stringify(after.metadata)).to.contain('"managedFields"').and.not.contain('"subresource"');
    expect(await over.apply(after, { replicas: 3 })).to.equal(after);
    const other = new StatusWriter<object, Widget>({ client, fieldManager: 'other', clock: systemClock });
    const both = await other.apply(after, { selector: 'a=b' });
    expect(await over.apply(both, { replicas: 3 })).to.equal(both);
    expect((await over.apply(both, { replicas: 4 })).status).to.deep.equal({ replicas: 4, selector: 'a=b' });
  });

  describe('applyOver', () => {
    it('overwrites the status that was read, even if other fields of the object have changed', async () => {
      const first = await writer.applyOver(widget, { size: 3 });
      await served.widgets.patch(NAME, { type: 'merge', body: { spec: { size: 5 } } });
      const after = await writer.applyOver(first, { size: 4 });
      expect(after).to.deep.include({ spec: { size: 5 }, status: { size: 4 } });
    });

    it('fails after five attempts when the object changes before each', async () => {
      let attempts = 0;
      const signals = new Set<AbortSignal | undefined>();
      const conflicting = {
        apply: (_: Widget, options: { readonly signal?: AbortSignal }) => {
          signals.add(options.signal);
          const statusCode = ++attempts < 100 ? 409 : 500; // ends the spec if the writer retried forever
          const facts = { statusCode, reason: undefined, retryAfterMs: undefined };
          return Promise.reject(new ApiError('changed', facts));
        },
        find: (_: object, options: { readonly signal?: AbortSignal }) => {
          signals.add(options.signal);
          return Promise.resolve(widget);
        },
      };
      const unlucky = new StatusWriter<object, Widget>({
        client: conflicting as never,
        fieldManager: 'spec',
        clock: systemClock,
      });
      const { signal } = new AbortController();
      const failure = await unlucky
        .applyOver(widget, { size: 3 }, { signal })
        .catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(ApiError).with.property('statusCode', 409);
      expect([...signals]).to.deep.equal([signal]);
      expect(attempts).to.equal(5);
    });

    it('writes nothing where the status is another one by now', async () => {
      const first = await writer.applyOver(widget, { size: 3 });
      const second = await writer.applyOver(first, { size: 4 });
      const failure = await writer.applyOver(first, { size: 5 }).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(ApiError).with.property('statusCode', 409);
      expect(await served.widgets.get(NAME)).to.deep.equal(second);
    });

    it('writes nothing to another object of that name, or to none', async () => {
      await served.widgets.delete(NAME);
      const gone = await writer.applyOver(widget, { size: 3 }).catch((error: unknown) => error);
      expect(gone).to.be.instanceOf(ApiError);
      const other = await served.widgets.create({ metadata: NAME, spec: { size: 3 } });
      const failure = await writer.applyOver(widget, { size: 3 }).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(ApiError).with.property('statusCode', 409);
      expect(await served.widgets.get(NAME)).to.deep.equal(other);
    });

    it('writes nothing where nothing changed', async () => {
      const first = await writer.applyOver(widget, { size: 3 });
      expect(await writer.applyOver(first, { size: 3 })).to.equal(first);
    });
  });

  describe('merge', () => {
    it('writes the difference to the status that was read, including removals', async () => {
      const first = await writer.apply(widget, { size: 3, note: 'growing' });
      await served.widgets.patch(NAME, { type: 'merge', body: { status: { theirs: true } } }, STATUS);
      const after = await writer.merge(first, { size: 4, note: '' });
      expect(after.status).to.deep.equal({ size: 4, theirs: true });
      expect(await writer.merge(after, { size: 4, theirs: true })).to.equal(after);
    });

    it('writes nothing to another object of that name', async () => {
      await served.widgets.delete(NAME);
      const other = await served.widgets.create({ metadata: NAME });
      const failure = await writer.merge(widget, { size: 3 }).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(ApiError).with.property('statusCode', 422);
      expect(await served.widgets.get(NAME)).to.deep.equal(other);
    });
  });

  describe('update', () => {
    it('replaces the status, even if other fields of the object have changed', async () => {
      const first = await writer.apply(widget, { size: 3, note: 'growing' });
      await served.widgets.patch(NAME, { type: 'merge', body: { spec: { size: 5 } } });
      const after = await writer.update(first, { size: 4 });
      expect(after).to.deep.include({ spec: { size: 5 }, status: { size: 4 } });
      expect(await writer.update(after, { size: 4, note: '' })).to.equal(after);
    });

    it('writes nothing where the status is another one by now', async () => {
      const first = await writer.update(widget, { size: 3 });
      const second = await writer.update(first, { size: 4 });
      const failure = await writer.update(first, { size: 5 }).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(ApiError).with.property('statusCode', 409);
      expect(await served.widgets.get(NAME)).to.deep.equal(second);
    });

    it('treats statuses as equal by the rule of the kind', async () => {
      const sizesAlone = new StatusWriter<Sized, Widget>({
        ...{ client: served.widgets, fieldManager: 'spec', clock: systemClock },
        isSame: (one, other) => one?.size === other?.size,
      });
      const first = await sizesAlone.update(widget, { size: 3, note: 'a' });
      expect(await sizesAlone.update(first, { size: 3, note: 'b' })).to.equal(first);
      await served.widgets.patch(NAME, { type: 'merge', body: { status: { note: 'theirs' } } }, STATUS);
      expect((await sizesAlone.update(first, { size: 4 })).status).to.deep.equal({ size: 4 });
    });
  });
});

describe('plainStatus', () => {
  it('omits empty values at any depth, and preserves zeros and positions in lists', () => {
    const status = {
      ...{ authenticationsTypes: '', triggersTypes: 'cron', resourceMetricNames: [], names: ['a', ''] },
      ...{ scaleTargetGVKR: { group: '', version: 'v1' }, triggersActivity: {}, hpaName: undefined },
      ...{ health: { a: { numberOfFailures: 0 } }, activity: { a: { isActive: false } }, none: null },
      ...{ conditions: [{ type: 'Ready', message: '' }], deep: { deeper: { deepest: '' } } },
    };
    expect(plainStatus(status)).to.deep.equal({
      ...{ triggersTypes: 'cron', names: ['a', ''], scaleTargetGVKR: { version: 'v1' } },
      ...{ health: { a: { numberOfFailures: 0 } }, activity: { a: { isActive: false } } },
      ...{ conditions: [{ type: 'Ready' }] },
    });
    expect(plainStatus(undefined)).to.deep.equal({});
  });
});

describe('mergePatch', () => {
  it('sets removed fields to null at any depth', () => {
    const before = { a: '', health: { x: { count: 1 }, y: { count: 2 } }, names: ['n'] };
    const after = { health: { y: { count: 3 } }, names: [] };
    expect(mergePatch(before, after)).to.deep.equal({
      a: null,
      health: { x: null, y: { count: 3 } },
      names: [],
    });
  });

  it('transforms any status into any other', () => {
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.array(fc.integer()));
    const { fields } = fc.letrec<{ fields: Fields; value: unknown }>((tie) => ({
      fields: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value')),
      value: fc.oneof({ maxDepth: 3 }, leaf, tie('fields')),
    }));
    fc.assert(
      fc.property(fields, fields, (before, after) => {
        expect(merged(before, mergePatch(before, after))).to.deep.equal({ ...after });
      }),
    );
  });
});

/** Merges as RFC 7396 specifies. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isFields = typeof target === 'object' && target !== null && !Array.isArray(target);
  const result: Fields = isFields ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field];
    else result[field] = merged(result[field], value);
  }
  return result;
}
