import { expect } from 'chai';
import { plainStatus, StatusWriter } from '#lib/control/status-writer.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { type SimulatedApi, startSimulatedApi, type Widget } from '#spec/support/simulated-api.ts';
import { startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';
import { WIDGETS as DEFINITION } from '#spec/support/widget-definition.ts';

const NAME = { namespace: 'default', name: 'a' };

describe('StatusWriter', () => {
  let served: SimulatedApi;
  let writer: StatusWriter<object, Widget>;
  let widget: Widget;

  beforeEach(async () => {
    served = await startSimulatedApi();
    writer = new StatusWriter({ client: served.widgets, fieldManager: 'spec' });
    widget = await served.widgets.create({ metadata: NAME, spec: { size: 3 } });
  });

  afterEach(async () => await served[Symbol.asyncDispose]());

  it('writes a status, and nothing else of the object', async () => {
    const after = await writer.write(widget, { size: 3, note: undefined });
    expect(after.status).to.deep.equal({ size: 3 });
    expect(after.spec).to.deep.equal({ size: 3 });
    expect(after.metadata.generation).to.equal(widget.metadata.generation);
  });

  it('writes nothing where nothing changed', async () => {
    const after = await writer.write(widget, { size: 3, note: undefined });
    expect(await writer.write(after, { size: 3, note: undefined })).to.equal(after);
    expect(await served.widgets.get(NAME)).to.deep.equal(after);
    expect(await writer.write(widget, {})).to.equal(widget);
  });

  it("takes away what it wrote before, and keeps what is others'", async () => {
    const first = await writer.write(widget, { size: 3, note: 'growing' });
    const other = new StatusWriter<object, Widget>({ client: served.widgets, fieldManager: 'other' });
    const both = await other.write(first, { theirs: true });
    expect(both.status).to.deep.equal({ size: 3, note: 'growing', theirs: true });
    expect((await writer.write(both, { size: 4 })).status).to.deep.equal({ size: 4, theirs: true });
  });

  it("writes nothing where others' fields alone have changed", async () => {
    const status = { size: 3, nested: { ours: 1 } };
    const first = await writer.write(widget, status);
    const other = new StatusWriter<object, Widget>({ client: served.widgets, fieldManager: 'other' });
    const both = await other.write(first, { theirs: true, nested: { theirs: 2 } });
    expect(await writer.write(both, status)).to.equal(both);
    const updated = await served.widgets.update(
      { ...both, status: { ...both.status, edited: 1 } },
      { subresource: 'status', fieldManager: 'editor' },
    );
    expect(await writer.write(updated, status)).to.equal(updated);
  });

  it('writes again what another has changed of ours, or taken away', async () => {
    const first = await writer.write(widget, { size: 3, note: 'ours' });
    const changed = await served.widgets.update(
      { ...first, status: { note: 'theirs' } },
      { subresource: 'status', fieldManager: 'editor' },
    );
    expect((await writer.write(changed, { size: 3, note: 'ours' })).status).to.deep.equal({
      size: 3,
      note: 'ours',
    });
  });

  it('takes over a field that another has written', async () => {
    const theirs = await new StatusWriter<object, Widget>({
      client: served.widgets,
      fieldManager: 'other',
    }).write(widget, { size: 9 });
    expect((await writer.write(theirs, { size: 3 })).status).to.deep.equal({ size: 3 });
  });

  it('writes nothing to another object that has the name now, and makes none', async () => {
    await served.widgets.delete(NAME);
    const gone = await writer.write(widget, { size: 3 }).catch((error: unknown) => error);
    expect(gone).to.be.instanceOf(ApiError).and.have.property('statusCode', 404);
    await served.widgets.create({ metadata: NAME });
    const replaced = await writer.write(widget, { size: 3 }).catch((error: unknown) => error);
    expect(replaced).to.be.instanceOf(ApiError).and.have.property('statusCode', 422);
    expect(await served.widgets.get(NAME)).not.to.have.property('status');
  });

  it('writes no empty texts, which Kubernetes 1.20 takes for nulls and refuses', async () => {
    const scenario = { nodes: 0, kubernetesMinor: 20 };
    await using old = await startSimulatedApiServer({ definitions: [DEFINITION], scenario });
    await using api = new ApiClient({ access: await old.access(), clock: old.clock, userAgent: 'spec' });
    const resource = { ...served.widgets.resource, group: 'example.com' };
    const client = new ResourceClient<Widget>({ api, resource });
    const made = await client.create({ metadata: NAME, spec: { colour: 'red' } });
    const conditions = [{ type: 'Ready', status: 'True', reason: '' }];
    const status = { selector: '', replicas: 0, conditions };
    const raw = await client
      .apply({ metadata: NAME, status }, { fieldManager: 'raw', subresource: 'status' })
      .catch((error: unknown) => error);
    expect(raw).to.be.instanceOf(ApiError).and.have.property('statusCode', 422);

    const over = new StatusWriter<object, Widget>({ client, fieldManager: 'spec' });
    const after = await over.write(made, status);
    expect(after.status).to.deep.equal({ replicas: 0, conditions: [{ type: 'Ready', status: 'True' }] });
    expect(await over.writeOver(after, { ...status, selector: null })).to.equal(after);
  });

  it('writes nothing where nothing changed with Kubernetes 1.20, which does not tell by which subresource', async () => {
    const scenario = { nodes: 0, kubernetesMinor: 20 };
    await using old = await startSimulatedApiServer({ definitions: [DEFINITION], scenario });
    await using api = new ApiClient({ access: await old.access(), clock: old.clock, userAgent: 'spec' });
    const resource = { ...served.widgets.resource, group: 'example.com' };
    const client = new ResourceClient<Widget>({ api, resource });
    const made = await client.create({ metadata: NAME, spec: { colour: 'red' } });
    const over = new StatusWriter<object, Widget>({ client, fieldManager: 'spec' });
    const after = await over.write(made, { replicas: 3 });
    expect(JSON.stringify(after.metadata)).to.contain('"managedFields"').and.not.contain('"subresource"');
    expect(await over.write(after, { replicas: 3 })).to.equal(after);
    const other = new StatusWriter<object, Widget>({ client, fieldManager: 'other' });
    const both = await other.write(after, { selector: 'a=b' });
    expect(await over.write(both, { replicas: 3 })).to.equal(both);
    expect((await over.write(both, { replicas: 4 })).status).to.deep.equal({ replicas: 4, selector: 'a=b' });
  });

  describe('writeOver', () => {
    it('writes over the status that it follows from, whatever else of the object has changed', async () => {
      const first = await writer.writeOver(widget, { size: 3 });
      await served.widgets.patch(NAME, { type: 'merge', body: { spec: { size: 5 } } });
      const after = await writer.writeOver(first, { size: 4 });
      expect(after).to.deep.include({ spec: { size: 5 }, status: { size: 4 } });
    });

    it('gives up after six attempts where somebody changes the object before each', async () => {
      let attempts = 0;
      const signals = new Set<AbortSignal | undefined>();
      const conflicting = {
        apply: (_: Widget, options: { readonly signal?: AbortSignal }) => {
          signals.add(options.signal);
          const statusCode = ++attempts < 100 ? 409 : 500; // or one that never gave up would never fail
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
      });
      const { signal } = new AbortController();
      const failure = await unlucky.writeOver(widget, { size: 3 }, signal).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(ApiError).with.property('statusCode', 409);
      expect([...signals]).to.deep.equal([signal]);
      expect(attempts).to.equal(6);
    });

    it('writes nothing where the status is another one by now', async () => {
      const first = await writer.writeOver(widget, { size: 3 });
      const second = await writer.writeOver(first, { size: 4 });
      const failure = await writer.writeOver(first, { size: 5 }).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(ApiError).with.property('statusCode', 409);
      expect(await served.widgets.get(NAME)).to.deep.equal(second);
    });

    it('writes nothing to another object of that name, or to none', async () => {
      await served.widgets.delete(NAME);
      const gone = await writer.writeOver(widget, { size: 3 }).catch((error: unknown) => error);
      expect(gone).to.be.instanceOf(ApiError);
      const other = await served.widgets.create({ metadata: NAME, spec: { size: 3 } });
      const failure = await writer.writeOver(widget, { size: 3 }).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(ApiError).with.property('statusCode', 409);
      expect(await served.widgets.get(NAME)).to.deep.equal(other);
    });

    it('writes nothing where nothing changed', async () => {
      const first = await writer.writeOver(widget, { size: 3 });
      expect(await writer.writeOver(first, { size: 3 })).to.equal(first);
    });
  });
});

describe('plainStatus', () => {
  it('leaves out what is empty, at any depth, and keeps zeros and the places of a list', () => {
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
