import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { Informer, type InformerOptions } from '#lib/kubernetes/informer/informer.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { eventually } from '#spec/support/eventually.ts';
import { LoopbackServer, type ReceivedRequest } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

type Response = (response: ServerResponse, request: ReceivedRequest) => void;

describe('Informer', () => {
  let clock: ManualClock;
  let logger: RecordingLogger;
  let stack: AsyncDisposableStack;
  /** The next responses; the last one repeats. */
  let responses: Response[];
  let server: LoopbackServer;
  let watches: ServerResponse[];

  beforeEach(async () => {
    clock = new ManualClock();
    logger = new RecordingLogger();
    stack = new AsyncDisposableStack();
    responses = [];
    watches = [];
    server = stack.use(
      await LoopbackServer.start((request, response) => {
        const respond = responses.length > 1 ? responses.shift() : responses[0];
        respond?.(response, request);
      }),
    );
  });

  afterEach(async () => {
    await stack.disposeAsync();
    expect(clock.sleeperCount).to.equal(0);
  });

  async function informerOf(more: Partial<InformerOptions<Retained>> = {}): Promise<Informer<Retained>> {
    const source = { server: server.url, proxy: undefined, load: async () => NO_CREDENTIALS };
    const access = await ClusterAccess.open(source, { clock, logger });
    const client = stack.use(new ApiClient({ access, clock, userAgent: 'spec' }));
    const collection = { path: '/api/v1/pods', fieldSelector: 'status.phase=Running', metadataOnly: true };
    const informer = stack.use(
      new Informer({ client, clock, logger, collection, transform: keep, random: () => 0, ...more }),
    );
    informer.start();
    return informer;
  }

  /** Responds with a watch that starts with these events and stays open. */
  const watching =
    (...events: readonly object[]): Response =>
    (response) => {
      response.write(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
      response.flushHeaders();
      watches.push(response);
    };

  const listing =
    (resourceVersion: string, ...items: readonly object[]): Response =>
    (response) =>
      void response.end(JSON.stringify({ metadata: { resourceVersion }, items }));

  const refusing =
    (code: number, reason: string, headers: Record<string, string> = {}): Response =>
    (response) => {
      response.writeHead(code, headers);
      response.end(JSON.stringify({ kind: 'Status', message: `it is ${reason}`, reason, code }));
    };

  const breaking: Response = (response) => void response.destroy();

  function send(...events: readonly object[]): void {
    watches.at(-1)?.write(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }

  const queries = () => server.requests.map(({ url }) => Object.fromEntries(url.searchParams));
  const messages = () => logger.lines.map(({ level, message }) => `${level}: ${message}`);

  it('lists page by page and then applies events that a real API server recorded', async () => {
    const [page1, page2, watch] = await Promise.all(['pods-page1', 'pods-page2', 'pods-watch'].map(recorded));
    responses = [
      (response) => void response.end(page1),
      (response) => void response.end(page2),
      (response) => void response.write(watch),
    ];
    const informer = await informerOf();
    await informer.synced();
    expect(informer.get('default', 'burner-7b8469d94f-8cdnt')).to.deep.include({
      name: 'burner-7b8469d94f-8cdnt',
    });
    await eventually(() => informer.get('default', 'burner-7b8469d94f-txvld') !== undefined);
    expect([...informer.values()].map(({ name }) => name).sort()).to.deep.equal([
      'burner-7b8469d94f-fxg29',
      'burner-7b8469d94f-txvld',
      'quiet',
    ]);
    expect(queries()).to.deep.equal([
      { fieldSelector: 'status.phase=Running', limit: '500' },
      {
        fieldSelector: 'status.phase=Running',
        limit: '500',
        continue: JSON.parse(page1 ?? '').metadata.continue,
      },
      {
        fieldSelector: 'status.phase=Running',
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion: '337',
        timeoutSeconds: '300',
      },
    ]);
    expect(server.requests[0]?.headers.accept).to.contain('as=PartialObjectMetadataList;g=meta.k8s.io;v=v1');
    expect(server.requests[2]?.headers.accept).to.contain('as=PartialObjectMetadata;g=meta.k8s.io;v=v1');
  });

  it('is synced when the last page has come, not before', async () => {
    const lastPage = Promise.withResolvers<ServerResponse>();
    responses = [
      (response) =>
        void response.end(
          JSON.stringify({ metadata: { resourceVersion: '5', continue: 'more' }, items: [object('a', 1)] }),
        ),
      (response) => lastPage.resolve(response),
      watching(),
    ];
    const informer = await informerOf();
    const response = await lastPage.promise;
    expect(informer.isSynced).to.equal(false);
    expect(informer.size).to.equal(0);
    response.end(JSON.stringify({ metadata: { resourceVersion: '5' }, items: [object('b', 2)] }));
    await informer.synced();
    expect(informer.isSynced).to.equal(true);
    expect(informer.size).to.equal(2);
  });

  it('notifies its listeners of each change, until they unsubscribe', async () => {
    responses = [listing('5', object('a', 1)), watching()];
    const informer = await informerOf();
    const keys: string[] = [];
    const leave = informer.onChange(({ key, current }) => keys.push(`${current ? 'set' : 'deleted'} ${key}`));
    await eventually(() => watches.length === 1);
    send(event('ADDED', 'b', 6), event('DELETED', 'a', 7), event('ADDED', 'end', 8));
    await eventually(() => informer.get('ns', 'end') !== undefined);
    leave();
    send(event('DELETED', 'end', 9));
    await eventually(() => informer.get('ns', 'end') === undefined);
    expect(keys).to.deep.equal(['set ns/a', 'set ns/b', 'deleted ns/a', 'set ns/end']);
  });

  it("leaves a listener's failure to that listener, and loses no change of a list by it", async () => {
    responses = [
      listing('5', object('a', 1), object('b', 2), object('c', 3)),
      watching(event('MODIFIED', 'b', 6, 'y'), error(410, 'Expired')),
      listing('9', object('d', 8)),
      watching(),
    ];
    const informer = await informerOf();
    const keys: string[] = [];
    informer.onChange(({ key }) => {
      throw new Error(`cannot take ${key}`);
    });
    informer.onChange(({ key, current }) => keys.push(`${current ? 'set' : 'deleted'} ${key}`));
    await informer.synced();
    await eventually(() => keys.length === 4);
    await retry(2);
    await eventually(() => informer.get('ns', 'd') !== undefined && watches.length === 2);
    expect(keys).to.deep.equal([
      ...['set ns/a', 'set ns/b', 'set ns/c', 'set ns/b'],
      ...['set ns/d', 'deleted ns/a', 'deleted ns/b', 'deleted ns/c'],
    ]);
    expect(queries()).to.have.length(4);
    expect(logger.lines).to.have.length(1);
    expect(logger.lines[0]).to.deep.include({
      level: 'error',
      message: 'Listener failed; other listeners continue',
      fields: { event: 'pods', err: 'cannot take ns/a' },
    });
  });

  it('replays cached objects to listeners that request it', async () => {
    responses = [listing('5', object('a', 1), object('b', 2)), watching()];
    const informer = await informerOf();
    await informer.synced();
    const changes: unknown[] = [];
    informer.onChange((change) => changes.push(change), { replay: true });
    expect(changes).to.deep.equal([
      { key: 'ns/a', previous: undefined, current: informer.get('ns', 'a') },
      { key: 'ns/b', previous: undefined, current: informer.get('ns', 'b') },
    ]);
    await eventually(() => watches.length === 1);
    send(event('MODIFIED', 'a', 6, 'y'));
    await eventually(() => changes.length === 3);
  });

  it('reports a deletion with the last state of the event, and a missed one with the cached state', async () => {
    responses = [
      listing('5', object('a', 1, 'x'), object('b', 2, 'x')),
      watching(event('DELETED', 'a', 6, 'z'), error(410, 'Expired')),
      listing('9'),
      watching(),
    ];
    const informer = await informerOf();
    const gone: unknown[] = [];
    informer.onChange(({ key, previous, current }) => current || gone.push([key, previous?.label]));
    await retry(2);
    await eventually(() => informer.size === 0);
    expect(gone).to.deep.equal([
      ['ns/a', 'z'],
      ['ns/b', 'x'],
    ]);
  });

  it('finds objects by its indexes', async () => {
    responses = [listing('5', object('a', 1, 'x'), object('b', 2, 'y'), object('c', 3, 'x')), watching()];
    const informer = await informerOf({ indexes: { label: ({ label }) => (label ? [label] : []) } });
    await informer.synced();
    expect(informer.findBy('label', 'x').map(({ name }) => name)).to.deep.equal(['a', 'c']);
    expect(informer.findBy('label', 'z')).to.deep.equal([]);
  });

  it('waits for a resource that is not served yet, and logs that once', async () => {
    responses = [
      refusing(404, 'NotFound'),
      refusing(404, 'NotFound'),
      listing('5', object('a', 1)),
      watching(),
    ];
    const informer = await informerOf();
    await retry(1);
    await retry(2);
    await informer.synced();
    await eventually(() => logger.lines.length === 2);
    expect(messages()).to.deep.equal([
      'warning: Waiting for a resource that the API server does not serve',
      'info: Listing and watching objects again',
    ]);
  });

  it('returns the same object after events and lists without a change', async () => {
    responses = [
      listing('5', object('a', 1)),
      watching(event('MODIFIED', 'a', 6), event('ADDED', 'b', 7), error(410, 'Expired')),
      listing('9', object('a', 8), object('c', 9)),
      watching(),
    ];
    const informer = await informerOf();
    await informer.synced();
    const before = informer.get('ns', 'a');
    await eventually(() => informer.get('ns', 'b') !== undefined);
    expect(informer.get('ns', 'a')).to.equal(before);
    await retry(2);
    await eventually(() => informer.get('ns', 'c') !== undefined);
    expect(informer.get('ns', 'a')).to.equal(before);
    expect(informer.get('ns', 'b')).to.equal(undefined);
    expect(messages()).to.deep.equal([]);
  });

  it('watches on from the last bookmark or event when the server ends the watch', async () => {
    responses = [
      listing('5'),
      watching(event('ADDED', 'a', 9), { type: 'BOOKMARK', object: version(17) }),
      watching(),
    ];
    const informer = await informerOf();
    await eventually(() => informer.size === 1);
    await clock.advance(100_000);
    watches[0]?.end();
    await eventually(() => watches.length === 2);
    expect(queries()[2]).to.include({ watch: 'true', resourceVersion: '17' });
    expect(messages()).to.deep.equal([]);
  });

  it('waits a second before it opens a watch again that was closed at once', async () => {
    responses = [listing('5'), (response) => void response.end(), watching()];
    await informerOf();
    await eventually(() => server.requests.length === 2 && clock.sleeperCount === 2);
    await clock.advance(999);
    expect(server.requests).to.have.length(2);
    await clock.advance(1);
    await eventually(() => watches.length === 1);
    expect(queries()[2]).to.include({ watch: 'true', resourceVersion: '5' });
  });

  it('lists from the beginning when a page has expired', async () => {
    const firstPage: Response = (response) =>
      void response.end(
        JSON.stringify({ metadata: { resourceVersion: '5', continue: 'more' }, items: [object('a', 1)] }),
      );
    responses = [firstPage, refusing(410, 'Expired'), listing('9', object('b', 2)), watching()];
    const informer = await informerOf();
    await retry(2);
    await informer.synced();
    expect([...informer.values()].map(({ name }) => name)).to.deep.equal(['b']);
    expect(queries()[2]).not.to.have.property('continue');
  });

  it('keeps cached objects while the server is unavailable, and logs each transition once', async () => {
    responses = [listing('5', object('a', 1)), watching(), breaking, breaking, breaking, watching()];
    const informer = await informerOf();
    await eventually(() => watches.length === 1);
    watches[0]?.destroy();
    for (const requests of [2, 3, 4, 5]) await retry(requests);
    await eventually(() => watches.length === 2);
    send(event('ADDED', 'b', 6));
    await eventually(() => informer.size === 2);
    expect(messages()).to.deep.equal([
      'error: Cannot list or watch objects; keeping cached ones and retrying',
      'info: Listing and watching objects again',
    ]);
    expect(queries().filter(({ watch }) => !watch)).to.have.length(1);
  });

  it('starts when the server does, and logs when the reason of waiting changes', async () => {
    responses = [
      breaking,
      breaking,
      refusing(403, 'Forbidden'),
      refusing(403, 'Forbidden'),
      listing('5'),
      watching(),
    ];
    const informer = await informerOf();
    for (const requests of [1, 2, 3, 4]) await retry(requests);
    await informer.synced();
    await eventually(() => logger.lines.length === 3);
    expect(logger.lines[0]?.fields.err).to.match(/^Cannot get \/api\/v1\/pods at http:/);
    expect(logger.lines[1]?.fields.err).to.equal('Cannot get /api/v1/pods: it is Forbidden (status 403)');
    expect(logger.lines[2]?.level).to.equal('info');
  });

  it('backs off up to eight seconds, and begins again after an event', async () => {
    responses = [breaking];
    const informer = await informerOf();
    const delays: number[] = [];
    for (let attempt = 1; attempt <= 8; attempt++) {
      await eventually(() => server.requests.length === attempt && clock.sleeperCount === 1);
      if (attempt === 8) responses = [listing('5'), watching(event('ADDED', 'a', 9)), breaking];
      const before = clock.monotonicMs();
      while (clock.sleeperCount === 1 && server.requests.length === attempt) await clock.advance(125);
      delays.push(clock.monotonicMs() - before);
    }
    expect(delays).to.deep.equal([125, 250, 500, 1000, 2000, 4000, 4000, 4000]);
    await eventually(() => informer.size === 1);
    const { length: lines } = logger.lines;
    watches.at(-1)?.destroy();
    await eventually(() => logger.lines.length === lines + 1);
    const { length: requests } = server.requests;
    await clock.advance(124);
    expect(server.requests).to.have.length(requests);
    await clock.advance(1);
    await eventually(() => server.requests.length === requests + 1);
  });

  it('waits for the delay that the server requests', async () => {
    responses = [refusing(429, 'TooManyRequests', { 'retry-after': '20' }), listing('5'), watching()];
    const informer = await informerOf();
    await eventually(() => logger.lines.length === 1);
    await clock.advance(19_999);
    expect(server.requests).to.have.length(1);
    await clock.advance(1);
    await informer.synced();
  });

  it('waits at most five minutes, whatever the server requests', async () => {
    responses = [refusing(503, 'ServiceUnavailable', { 'retry-after': '86400' }), listing('5'), watching()];
    const informer = await informerOf();
    await eventually(() => logger.lines.length === 1);
    await clock.advance(299_999);
    expect(server.requests).to.have.length(1);
    await clock.advance(1);
    await informer.synced();
  });

  it('reads null items as an empty list, as Go encodes it', async () => {
    responses = [
      (response) => void response.end('{"metadata":{"resourceVersion":"5"},"items":null}'),
      watching(),
    ];
    const informer = await informerOf();
    await informer.synced();
    expect(informer.size).to.equal(0);
    expect(messages()).to.deep.equal([]);
  });

  it('uses the code of the Status that ends a watch, where that has no reason', async () => {
    const ended = (code: number) => ({ type: 'ERROR', object: { kind: 'Status', message: 'over', code } });
    responses = [
      listing('5'),
      watching(ended(410)),
      listing('9'),
      watching(ended(429)),
      watching(event('ADDED', 'a', 10)),
    ];
    const informer = await informerOf();
    await retry(2);
    await retry(4);
    await eventually(() => informer.size === 1);
    expect(queries().map(({ watch, resourceVersion }) => [watch, resourceVersion])).to.deep.equal([
      [undefined, undefined],
      ['true', '5'],
      [undefined, undefined],
      ['true', '9'],
      ['true', '9'],
    ]);
    expect(messages()).to.deep.equal([
      'error: Cannot list or watch objects; keeping cached ones and retrying',
      'info: Listing and watching objects again',
    ]);
  });

  it('watches on from the latest version, though an older event came last', async () => {
    responses = [
      listing('5'),
      watching(event('ADDED', 'a', 9), event('ADDED', 'b', 7), { type: 'BOOKMARK', object: version(8) }),
      watching(),
    ];
    const informer = await informerOf();
    await eventually(() => informer.size === 2);
    await clock.advance(100_000);
    watches[0]?.end();
    await eventually(() => watches.length === 2);
    expect(queries()[2]).to.include({ watch: 'true', resourceVersion: '9' });
  });

  it('accepts objects of a restored server with older versions', async () => {
    responses = [
      listing('100', object('a', 90)),
      watching(event('DELETED', 'a', 101), error(410, 'Expired')),
      listing('40'),
      watching(event('ADDED', 'a', 41)),
    ];
    const informer = await informerOf();
    await eventually(() => server.requests.length === 2 && informer.size === 0);
    await retry(2);
    await eventually(() => informer.get('ns', 'a') !== undefined);
  });

  it('watches again without a list when the server is only busy', async () => {
    responses = [
      listing('5'),
      refusing(429, 'TooManyRequests'),
      refusing(503, 'ServiceUnavailable'),
      watching(),
    ];
    await informerOf();
    await retry(2);
    await retry(3);
    await eventually(() => watches.length === 1);
    expect(queries().filter(({ watch }) => !watch)).to.have.length(1);
  });

  it('lists again when the server refuses the version that it gave', async () => {
    responses = [listing('5'), refusing(504, 'Timeout'), listing('3', object('a', 2)), watching()];
    const informer = await informerOf();
    await retry(2);
    await eventually(() => informer.size === 1);
  });

  it('lists again after an event that cannot be read', async () => {
    responses = [
      listing('5'),
      (response) => void response.write('{"type":"ADDED","object":\n'),
      listing('6', object('a', 6)),
      watching(),
    ];
    const informer = await informerOf();
    await retry(2);
    await eventually(() => informer.size === 1);
    expect(logger.lines[0]?.fields.err).to.equal('Cannot watch /api/v1/pods: invalid event');
  });

  it('reopens a silent watch at its last version, without a log line', async () => {
    responses = [listing('5'), watching(event('ADDED', 'a', 9)), watching()];
    const informer = await informerOf();
    await eventually(() => informer.size === 1);
    await clock.advance(100_000);
    send(event('ADDED', 'b', 17));
    await eventually(() => informer.size === 2);
    await clock.advance(149_999);
    expect(watches).to.have.length(1);
    await clock.advance(1);
    await eventually(() => watches.length === 2);
    expect(queries()[2]).to.include({ watch: 'true', resourceVersion: '17' });
    expect(messages()).to.deep.equal([]);
  });

  it('ignores invalid events, and logs that once', async () => {
    responses = [
      listing('5', object('broken', 1), {}, object('a', 2)),
      watching({ type: 'FUTURE', object: {} }, { type: 'FUTURE', object: {} }, event('ADDED', 'b', 6)),
    ];
    const informer = await informerOf();
    await eventually(() => informer.get('ns', 'b') !== undefined);
    expect(informer.size).to.equal(2);
    expect(messages()).to.deep.equal([
      'warning: Cannot read object; keeping the cached version',
      'warning: Ignoring objects without a name',
      'warning: Ignoring events of type FUTURE',
    ]);
    expect(logger.lines.map(({ fields }) => fields)).to.deep.equal([
      { resource: 'pods', object: 'ns/broken', error: 'it is broken' },
      { resource: 'pods' },
      { resource: 'pods' },
    ]);
  });

  it('keeps the cached version of an unreadable object, until it can be read or is deleted', async () => {
    responses = [
      listing('5', object('a', 1), object('b', 2), object('c', 3)),
      watching(event('MODIFIED', 'a', 6, 'broken'), event('MODIFIED', 'b', 7, 'y')),
      listing('9', object('a', 6, 'broken'), object('b', 8, 'broken'), object('d', 9, 'broken')),
      watching(),
    ];
    const informer = await informerOf();
    const cached = () => [...informer.values()].map(({ name, label }) => `${name} ${label}`).join();
    await eventually(() => cached() === 'a x,b y,c x');
    send(error(410, 'Expired'));
    await retry(2);
    await eventually(() => watches.length === 2);
    expect(cached()).to.equal('a x,b y');
    send(event('MODIFIED', 'a', 10, 'z'), event('DELETED', 'b', 11, 'broken'));
    await eventually(() => cached() === 'a z');
    const read = logger.lines.filter(({ message }) => message.startsWith('Cannot read object'));
    expect(read.map(({ fields }) => fields.object)).to.deep.equal(['ns/a', 'ns/a', 'ns/b', 'ns/d', 'ns/b']);
  });

  it('logs ten unreadable objects of a namespace in an hour, and then how many it did not log', async () => {
    const broken = Array.from({ length: 12 }, (_, index) => object(`${index}`, index + 1, 'broken'));
    responses = [listing('20', ...broken), watching()];
    await informerOf();
    await eventually(() => watches.length === 1);
    expect(messages()).to.have.length(10);
    await clock.advance(3_600_000);
    send(event('ADDED', 'late', 21, 'broken'));
    await eventually(() => logger.lines.at(-1)?.fields.object === 'ns/late');
    expect(logger.lines.at(-1)?.fields.changesNotLogged).to.equal(2);
  });

  it('has each watch end after five to ten minutes, so that those of a server do not end together', async () => {
    for (const drawn of [0, 0.5, 0.999]) {
      responses = [listing('5'), watching(event('ADDED', 'b', 6))];
      const before = server.requests.length;
      await informerOf({ random: () => drawn });
      await eventually(() => server.requests.length === before + 2);
      expect(server.requests.at(-1)?.url.searchParams.get('timeoutSeconds')).to.equal(
        `${Math.floor(300 * (1 + drawn))}`,
      );
    }
  });

  it('drops an object that is no longer of interest', async () => {
    responses = [listing('5', object('a', 1)), watching(event('MODIFIED', 'a', 6, 'none'))];
    const informer = await informerOf();
    await informer.synced();
    await eventually(() => informer.size === 0);
  });

  it('closes its connections, and rejects waiting callers', async () => {
    responses = [(response) => watches.push(response)];
    const informer = await informerOf();
    const waiting = informer.synced().catch((reason: Error) => reason.message);
    await eventually(() => watches.length === 1);
    const closed = new Promise((resolve) => watches[0]?.once('close', resolve));
    await informer[Symbol.asyncDispose]();
    expect(await waiting).to.equal('informer is closed');
    await closed;
  });

  it('lets a waiting caller abort', async () => {
    responses = [(response) => watches.push(response)];
    const informer = await informerOf();
    const controller = new AbortController();
    const waiting = informer.synced(controller.signal).catch((reason: unknown) => reason);
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await waiting).to.equal(reason);
  });

  it('polls at the given interval while watching is forbidden, and watches once it is allowed', async () => {
    const forbidden = refusing(403, 'Forbidden');
    responses = [
      listing('5', object('a', 1), object('b', 2)),
      forbidden,
      listing('7', object('b', 6)),
      forbidden,
      listing('8', object('b', 6)),
      watching(),
    ];
    const informer = await informerOf({ relistMs: 30_000 });
    await eventually(() => server.requests.length === 2 && clock.sleeperCount === 1);
    expect(informer.size).to.equal(2);
    expect(messages()).to.deep.equal(['info: Watch is forbidden; falling back to polling']);
    await clock.advance(29_999);
    expect(server.requests).to.have.length(2);
    await clock.advance(1);
    await eventually(() => server.requests.length === 4 && clock.sleeperCount === 1);
    expect([...informer.values()].map(({ name }) => name)).to.deep.equal(['b']);
    await clock.advance(30_000);
    await eventually(() => watches.length === 1);
    expect(messages()).to.deep.equal(['info: Watch is forbidden; falling back to polling']);
  });

  /** Advances past the delay after the given number of requests. */
  async function retry(requests: number): Promise<void> {
    await eventually(() => server.requests.length === requests && clock.sleeperCount === 1);
    while (server.requests.length === requests) await clock.advance(125);
  }
});

interface Retained {
  readonly name: string;
  readonly label: string | undefined;
}

function keep(object: unknown): Retained | undefined {
  const metadata = propertyOf(object, 'metadata');
  const name = String(propertyOf(metadata, 'name'));
  const label = propertyOf(propertyOf(metadata, 'labels'), 'label');
  if (name === 'broken' || label === 'broken') throw new Error('it is broken');
  return label === 'none' ? undefined : { name, label: typeof label === 'string' ? label : undefined };
}

function object(name: string, resourceVersion: number, label = 'x'): object {
  return {
    metadata: {
      namespace: 'ns',
      name,
      resourceVersion: `${resourceVersion}`,
      labels: { label },
      uid: `${resourceVersion}`,
    },
  };
}

function event(type: string, name: string, resourceVersion: number, label?: string): object {
  return { type, object: object(name, resourceVersion, label) };
}

function version(resourceVersion: number): object {
  return { metadata: { resourceVersion: `${resourceVersion}` } };
}

function error(code: number, reason: string): object {
  return { type: 'ERROR', object: { kind: 'Status', message: reason, reason, code } };
}

const NO_CREDENTIALS = {
  tls: { ca: undefined, cert: undefined, key: undefined, servername: undefined, rejectUnauthorized: true },
  authorization: undefined,
};

async function recorded(name: string): Promise<string> {
  return await readFile(new URL(`../../fixtures/apiserver/${name}.body`, import.meta.url), 'utf8');
}
