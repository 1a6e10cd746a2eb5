import { expect } from 'chai';
import type { ResponseBody } from '#lib/apiserver/http/response-body.ts';
import type { ListedObjects } from '#lib/apiserver/resources/api-group.ts';
import { encodeList } from '#lib/apiserver/resources/encode-list.ts';
import { RecentLists } from '#lib/apiserver/resources/recent-lists.ts';
import { select } from '#lib/apiserver/resources/selection.ts';
import type { ObjectBlock } from '#lib/apiserver/resources/served-object.ts';
import { TimeSlices } from '#lib/concurrency/event-loop.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { Thing, thingsResource } from '#spec/support/served-things.ts';

const RETAINED_MS = 20_000;
/** The minimum number of objects that are encoded ahead. */
const LONG = 500;

describe('RecentLists', () => {
  let clock: ManualClock;
  let recent: RecentLists;
  let encoded: number;
  beforeEach(() => {
    clock = new ManualClock();
    recent = new RecentLists({ clock, recentMs: RETAINED_MS });
    encoded = 0;
  });

  /** Counts how often it is encoded. */
  class CountedThing extends Thing {
    override get content(): Thing {
      encoded++;
      return this;
    }
  }

  const blockOf = (count: number, namespace?: string) =>
    Array.from({ length: count }, (_, index) => new CountedThing(`thing-${index}`, { namespace }));
  const identity = { group: 'lab.example', version: 'v1', resource: thingsResource(() => []) };
  const bodyOf = (block: ObjectBlock, format: 'json' | 'protobuf' = 'json') =>
    encodeList(
      { ...identity, metadata: { resourceVersion: '7' }, selection: select([block]) },
      { format, isPretty: false, conversion: undefined },
      { query: new URLSearchParams(), signal: () => AbortSignal.abort(), slices: new TimeSlices() },
    );
  /** Lists all things. */
  async function request(block: ObjectBlock, changes: Partial<ListedObjects> = {}): Promise<ResponseBody> {
    const { format = 'json', namespace } = changes;
    const body = await bodyOf(block, format);
    return recent.note(identity, { namespace, format, selection: select([block]), body, ...changes });
  }
  const ahead = (
    list: (namespace: string | undefined) => ObjectBlock,
    signal = new AbortController().signal,
  ) =>
    recent.encodeAhead(
      { resourceVersion: '7', list: (_resource, namespace) => [list(namespace)] },
      { slices: new TimeSlices(), signal },
    );

  it('encodes recently requested lists ahead, so that no request has to', async () => {
    await request(blockOf(LONG));
    const next = blockOf(LONG);
    encoded = 0;
    await ahead(() => next);
    expect(encoded).to.equal(LONG);
    await request(next);
    expect(encoded).to.equal(LONG);
    await request(next, { format: 'protobuf' });
    expect(encoded).to.equal(2 * LONG); // no request before that
  });

  it('encodes nothing without requests', async () => {
    expect(recent.isEmpty).to.equal(true);
    await ahead(() => blockOf(LONG));
    expect(encoded).to.equal(0);
  });

  it('evicts lists that are not requested again in time', async () => {
    await request(blockOf(LONG), { namespace: 'early' });
    await clock.advance(1);
    await request(blockOf(LONG), { namespace: 'late' });
    await clock.advance(RETAINED_MS);
    const listed: unknown[] = [];
    await ahead((namespace) => {
      listed.push(namespace);
      return blockOf(LONG);
    });
    expect(listed).to.deep.equal(['late']);
    await clock.advance(1);
    expect(recent.isEmpty).to.equal(true);
  });

  it('leaves short lists to requests', async () => {
    await request(blockOf(LONG - 1));
    expect(recent.isEmpty).to.equal(true);
  });

  it('notes a part by the blocks that it is cut from, which are encoded whole', async () => {
    const block = blockOf(LONG);
    await request(block, { selection: [{ block, ranges: [{ start: 0, end: 1 }] }] });
    expect(recent.isEmpty).to.equal(false);
  });

  it('compresses ahead only lists that were sent compressed', async () => {
    for (const isCompressed of [false, true]) {
      const { gzipped } = await request(blockOf(LONG));
      if (isCompressed) await gzipped?.();
      const next = blockOf(LONG);
      await ahead(() => next);
      let isReady = false;
      const compressing = (await bodyOf(next)).gzipped?.().then(() => {
        isReady = true;
      });
      for (let microtask = 0; microtask < 10; microtask++) await undefined; // any compressor takes longer
      expect(isReady).to.equal(isCompressed);
      await compressing;
    }
  });

  it('yields to other work, and shares its encoding with concurrent requests', async () => {
    await request(blockOf(LONG));
    const next = blockOf(4 * LONG);
    encoded = 0;
    const running = ahead(() => next);
    await new Promise((resolve) => setImmediate(resolve));
    expect(encoded).to.be.within(1, 3 * LONG);
    await Promise.all([running, bodyOf(next)]);
    expect(encoded).to.equal(4 * LONG);
  });

  it('stops between two lists when its signal aborts', async () => {
    const over = new AbortController();
    await request(blockOf(LONG), { namespace: 'a' });
    await request(blockOf(LONG), { namespace: 'b' });
    const listed: unknown[] = [];
    const failure = await ahead((namespace) => {
      listed.push(namespace);
      over.abort(new Error('enough'));
      return blockOf(LONG);
    }, over.signal).catch((error: Error) => error.message);
    expect([failure, listed]).to.deep.equal(['enough', ['b']]);
  });

  it('stops at a maximum number of bytes', async () => {
    for (const namespace of ['a', 'b']) await request(blockOf(LONG), { namespace });
    const labels = { long: 'x'.repeat(140_000) };
    const large = Array.from({ length: LONG }, () => new Thing('large', { labels }));
    const listed: unknown[] = [];
    await ahead((namespace) => {
      listed.push(namespace);
      return large;
    });
    expect(listed).to.deep.equal(['b']);
  });

  it('caches only the latest lists, up to a limit', async () => {
    const block = blockOf(LONG);
    for (let index = 0; index < 513; index++) await request(block, { namespace: `n-${index}` });
    const listed: unknown[] = [];
    await ahead((namespace) => {
      listed.push(namespace);
      return block;
    });
    expect(listed).to.have.length(512).and.not.include('n-0');
    expect(listed[0]).to.equal('n-512');
  });
});
