import { lengthOf, type ResponseBody } from '#lib/apiserver/http/response-body.ts';
import { LruMap } from '#lib/cache/lru-map.ts';
import { OBJECTS_PER_SLICE, type TimeSlices } from '#lib/concurrency/event-loop.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ListedObjects, ObjectResource } from './api-group.ts';
import type { ResourceIdentity } from './conversions.ts';
import { encodeList } from './encode-list.ts';
import type { BlockFormat } from './encode-object.ts';
import { select } from './selection.ts';
import type { ObjectBlock } from './served-object.ts';

interface RecentListsOptions {
  readonly clock: Clock;
  /** How long a list counts as recent: somewhat longer than its objects stay the same. */
  readonly recentMs: number;
}

/** A list, or a part of one, that a client has requested. */
interface RecentList extends ResourceIdentity {
  readonly resource: Pick<ObjectResource, 'name' | 'kind' | 'listKind' | 'columns'>;
  /** `undefined` for all. */
  readonly namespace: string | undefined;
  readonly format: BlockFormat;
}

/** The objects of the next version, before they are served. */
export interface NextObjects {
  list(
    resource: string,
    namespace: string | undefined,
    slices: TimeSlices,
  ): readonly ObjectBlock[] | Promise<readonly ObjectBlock[]>;
  /** The version that lists will have. */
  readonly resourceVersion: string | undefined;
}

/** Time slices of encoding ahead, and its abort signal. */
interface AheadPace {
  readonly slices: TimeSlices;
  readonly signal: AbortSignal;
}

interface RecordedList {
  readonly list: RecentList;
  requestedAtMs: number;
  compressedAtMs: number;
}

/** As many as a large cluster has namespaces, in both formats; the least recently requested one is evicted first. */
const MAX_LISTS = 512;

/** Once this much has been encoded ahead, uncompressed, the rest is encoded on request. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Fewer objects are encoded in a few milliseconds. */
const MIN_OBJECTS = OBJECTS_PER_SLICE;

/**
 * Records which long lists were requested recently, and encodes them for each new version, so that clients that poll
 * never wait for thousands of objects to be encoded. Lists without a recent request are not encoded.
 */
export class RecentLists {
  readonly #options: RecentListsOptions;
  readonly #lists = new LruMap<string, RecordedList>({ max: MAX_LISTS });

  constructor(options: RecentListsOptions) {
    this.#options = options;
  }

  /** Whether there is nothing to encode. */
  get isEmpty(): boolean {
    this.#evictOld();
    return this.#lists.size === 0;
  }

  /**
   * Records the request of a list.
   *
   * @returns the body, which also records whether it is sent compressed
   */
  note(
    identity: Omit<RecentList, 'namespace' | 'format'>,
    { namespace, format, selection, body }: ListedObjects,
  ): ResponseBody {
    const list = { ...identity, namespace, format };
    const objects = selection.reduce((sum, { block }) => sum + block.length, 0);
    if (objects < MIN_OBJECTS) return body;
    const { clock } = this.#options;
    const key = `${list.resource.name} ${list.format} ${list.namespace ?? ''}`;
    const { compressedAtMs = Number.NEGATIVE_INFINITY } = this.#lists.peek(key) ?? {};
    const recorded = { list, requestedAtMs: clock.monotonicMs(), compressedAtMs };
    this.#lists.set(key, recorded);
    const { gzipped } = body;
    if (!gzipped) return body;
    return {
      ...body,
      gzipped: () => {
        recorded.compressedAtMs = recorded.requestedAtMs;
        return gzipped();
      },
    };
  }

  /**
   * Encodes recent lists, the most recent first, in time slices; requests for the same objects meanwhile wait for it,
   * so nothing is encoded twice.
   *
   * @throws the signal's reason when it aborts meanwhile
   */
  async encodeAhead(next: NextObjects, pace: AheadPace): Promise<void> {
    const oldestMs = this.#evictOld();
    let bytes = 0;
    for (const { list, compressedAtMs } of [...this.#lists.values()].reverse()) {
      pace.signal.throwIfAborted();
      const blocks = await next.list(list.resource.name, list.namespace, pace.slices);
      const body = await encodeWhole(list, blocks, next, pace);
      if (compressedAtMs >= oldestMs) await body.gzipped?.();
      bytes += lengthOf(body);
      if (bytes >= MAX_BYTES) return;
    }
  }

  /** @returns since when lists count as recent */
  #evictOld(): number {
    const { clock, recentMs } = this.#options;
    const oldestMs = clock.monotonicMs() - recentMs;
    for (const [key, { requestedAtMs }] of this.#lists) {
      if (requestedAtMs >= oldestMs) break;
      this.#lists.delete(key);
    }
    return oldestMs;
  }
}

const NO_QUERY = new URLSearchParams();

function encodeWhole(
  { format, ...list }: RecentList,
  blocks: readonly ObjectBlock[],
  { resourceVersion }: NextObjects,
  { slices, signal }: AheadPace,
): Promise<ResponseBody> {
  return encodeList(
    { ...list, selection: select(blocks), metadata: { resourceVersion } },
    { format, isPretty: false, conversion: undefined },
    { query: NO_QUERY, signal: () => signal, slices },
  );
}
