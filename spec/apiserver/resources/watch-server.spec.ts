import { expect } from 'chai';
import { Registry } from 'prom-client';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import { ANONYMOUS } from '#lib/apiserver/http/api-context.ts';
import { objectDocument } from '#lib/apiserver/resources/encode-object.ts';
import type { ObjectBlock, Watchable } from '#lib/apiserver/resources/served-object.ts';
import { bookmarkDocument, encodeEvent } from '#lib/apiserver/resources/watch-server.ts';
import { requestHttp1, requestHttp2 } from '#spec/support/api-request.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { ProtobufFields } from '#spec/support/protobuf-fields.ts';
import { Thing, thingsResource } from '#spec/support/served-things.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';
import { WatchStream } from '#spec/support/watch-stream.ts';

const PATH = '/apis/lab.example/v1/things?watch=1';

describe('WatchServer', () => {
  let clock: ManualClock;
  let things: WatchedThings;
  let server: ApiServer;
  let registry: Registry;
  beforeEach(async () => {
    registry = new Registry();
    clock = new ManualClock();
    things = new WatchedThings();
    const resources = [thingsResource(() => things.current(), { watch: things })];
    server = await startTestApiServer({
      groups: [{ name: 'lab.example', versions: [{ version: 'v1', resources: () => resources }] }],
      registry,
      clock,
      maxWatchers: 2,
    });
  });
  afterEach(() => server[Symbol.asyncDispose]());
  const open = () => WatchStream.open(server.address.port, PATH);

  it('sends a slow watcher the changes since its last event, not all intermediate ones', async () => {
    things.publish(many(20_000, 0));
    await using stream = await open();
    stream.response.pause(); // reads only into the socket's buffers
    for (let size = 1; size <= 5; size++) {
      things.publish(many(20_000, size));
      await clock.advance(0);
    }
    stream.response.resume();
    const events = await stream.take(40_000);
    expect(events.map(({ type }) => type)).to.deep.equal(
      events.map((_event, index) => (index < 20_000 ? 'ADDED' : 'MODIFIED')),
    );
    expect(events.at(-1)?.object.size).to.equal(5);
  });

  it('drops a watcher that reads nothing for a minute', async () => {
    things.publish(many(50_000, 0));
    await using stream = await open();
    stream.response.pause();
    const closed = new Promise((resolve) => stream.response.once('close', resolve));
    while (clock.sleeperCount < 2) await new Promise((resolve) => setImmediate(resolve)); // the watch timeout, and the stall timeout
    await clock.advance(60_000);
    stream.response.resume();
    await closed;
    expect(stream.response.complete).to.equal(false);
    expect(await registry.metrics()).to.contain('apiserver_refused_requests_total{reason="not_read"} 1\n');
  });

  it('responds with 429 beyond the maximum number of watchers', async () => {
    things.publish(many(1, 0));
    const streams = await Promise.all([open(), open()]);
    expect((await requestHttp1({ port: server.address.port, path: PATH })).status).to.equal(429);
    expect(await registry.metrics()).to.contain('apiserver_refused_requests_total{reason="watchers"} 1\n');
    await streams[0]?.[Symbol.asyncDispose]();
    while (clock.sleeperCount > 1) await new Promise((resolve) => setImmediate(resolve));
    const next = await open();
    expect(next.response.statusCode).to.equal(200);
    streams.push(next);
    for (const stream of streams) await stream[Symbol.asyncDispose]();
  });

  it('ends a watch that begins while the server drains', async () => {
    const [requested, mayRespond] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const resources = [thingsResource(() => things.current(), { watch: things })];
    const draining = await startTestApiServer({
      groups: [{ name: 'lab.example', versions: [{ version: 'v1', resources: () => resources }] }],
      clock: new ManualClock(), // the drain never times out
      authenticator: async () => {
        requested.resolve();
        await mayRespond.promise;
        return ANONYMOUS;
      },
    });
    const opening = WatchStream.open(draining.address.port, PATH);
    await requested.promise;
    const disposed = draining[Symbol.asyncDispose]();
    mayRespond.resolve();
    await using stream = await opening;
    await stream.remaining();
    expect(stream.response.complete).to.equal(true);
    await disposed;
  });

  it('heeds no timeout parameter, which a watch does not have', async () => {
    things.publish(many(1, 0));
    await using stream = await WatchStream.open(server.address.port, `${PATH}&timeout=xyz`);
    expect(stream.response.statusCode).to.equal(200);
    expect(await stream.take(1)).to.have.lengthOf(1);
    await using other = await WatchStream.open(server.address.port, `${PATH}&timeout=1s`);
    await other.take(1);
    await clock.advance(2_000);
    things.publish(many(1, 1));
    expect((await other.take(1)).map(({ type }) => type)).to.deep.equal(['MODIFIED']);
  });

  it('sends bookmarks only to watchers that request them', async () => {
    things.publish(many(1, 0));
    await using plain = await open();
    await using marked = await WatchStream.open(server.address.port, `${PATH}&allowWatchBookmarks=true`);
    await Promise.all([plain.take(1), marked.take(1)]);
    for (const size of [1, 2]) {
      things.publish(many(1, size));
      await clock.advance(0);
      expect((await marked.take(2)).map(({ type }) => type)).to.deep.equal(['MODIFIED', 'BOOKMARK']);
      expect((await plain.take(1)).map(({ type }) => type)).to.deep.equal(['MODIFIED']);
    }
  });

  it('streams over HTTP/2, and ends after half an hour or more without a timeout', async () => {
    things.publish(many(2, 0));
    const watched = requestHttp2({ port: server.address.port, path: PATH });
    while (clock.sleeperCount === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(30 * 60_000 - 1);
    expect(clock.sleeperCount).to.equal(1);
    await clock.advance(30 * 60_000);
    const { status, body } = await watched;
    expect([status, body.toString().split('\n').length]).to.deep.equal([200, 3]);
  });
});

function many(count: number, size: number): readonly Thing[] {
  return Array.from(
    { length: count },
    (_, index) => new Thing(`thing-${String(index).padStart(6, '0')}`, { size }),
  );
}

/** Things of which every state is published immediately. */
class WatchedThings implements Watchable<Thing> {
  #things: readonly Thing[] = [];
  #version = 0;
  #published = Promise.withResolvers<void>();

  publish(things: readonly Thing[]): void {
    this.#things = things;
    this.#version++;
    this.#published.resolve();
    this.#published = Promise.withResolvers();
  }

  version(): string {
    return String(this.#version);
  }

  current(): readonly ObjectBlock[] {
    return [this.#things];
  }

  possiblySent(version: string): readonly ObjectBlock[] | undefined {
    return version === this.version() ? [this.#things] : undefined;
  }

  async changed(version: string, signal: AbortSignal): Promise<void> {
    if (version !== this.version()) return;
    const aborted = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => aborted.reject(signal.reason), { once: true });
    if (signal.aborted) aborted.reject(signal.reason);
    await Promise.race([this.#published.promise, aborted.promise]);
  }

  isUnchanged(before: Thing, after: Thing): boolean {
    return before.size === after.size;
  }
}

const TYPE = { kind: 'Thing', apiVersion: 'lab.example/v1' };

describe('encodeEvent', () => {
  const thing = objectDocument(new Thing('a', { size: 7 }), TYPE);

  it('writes JSON on one line', () => {
    const text = encodeEvent('ADDED', thing, 'json').toString();
    expect(text.indexOf('\n')).to.equal(text.length - 1);
    expect(JSON.parse(text)).to.deep.equal({
      type: 'ADDED',
      object: { ...TYPE, metadata: { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' }, size: 7 },
    });
  });

  it('writes protobuf behind its length, the object in an envelope of its own', () => {
    const frame = encodeEvent('MODIFIED', thing, 'protobuf');
    expect(frame.readUInt32BE()).to.equal(frame.length - 4);
    const event = new ProtobufFields(frame.subarray(4));
    expect(event.text(1)).to.equal('MODIFIED');
    const raw = event.message(2)?.bytes(1) ?? Buffer.alloc(0);
    expect(raw.subarray(0, 4).toString('latin1')).to.equal('k8s\0');
    const unknown = new ProtobufFields(raw.subarray(4));
    expect([unknown.message(1)?.text(1), unknown.message(1)?.text(2)]).to.deep.equal([
      TYPE.apiVersion,
      TYPE.kind,
    ]);
    expect(unknown.message(2)?.message(1)?.text(1)).to.equal('a');
    expect(unknown.message(2)?.number(2)).to.equal(7);
  });
});

describe('bookmarkDocument', () => {
  it('is an object of nothing but a version, in both formats', () => {
    const bookmark = bookmarkDocument(TYPE, { resourceVersion: '42', isInitialEnd: true });
    expect(JSON.parse(encodeEvent('BOOKMARK', bookmark, 'json').toString()).object).to.deep.equal({
      ...TYPE,
      metadata: { resourceVersion: '42', annotations: { 'k8s.io/initial-events-end': 'true' } },
    });
    const event = new ProtobufFields(encodeEvent('BOOKMARK', bookmark, 'protobuf').subarray(4));
    const raw = event.message(2)?.bytes(1) ?? Buffer.alloc(0);
    const metadata = new ProtobufFields(raw.subarray(4)).message(2)?.message(1);
    expect(metadata?.text(6)).to.equal('42');
    expect(metadata?.message(12)?.text(1)).to.equal('k8s.io/initial-events-end');
  });
});
