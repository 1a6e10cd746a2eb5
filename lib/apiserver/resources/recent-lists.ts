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

/** What lists are remembered by. */
export interface RecentListsOptions {
  readonly clock: Clock;
  /** For how long a list counts as asked for lately: somewhat longer than its objects stay the same. */
  readonly rememberMs: number;
}

/** A list, or a part of one, that somebody has asked for. */
export interface RecentList extends ResourceIdentity {
  readonly resource: Pick<ObjectResource, 'name' | 'kind' | 'listKind' | 'columns'>;
  /** `undefined` for all. */
  readonly namespace: string | undefined;
  readonly format: BlockFormat;
}

/** The objects that will be listed next, before anybody can ask for them. */
export interface NextObjects {
  list(
    resource: string,
    namespace: string | undefined,
    slices: TimeSlices,
  ): readonly ObjectBlock[] | Promise<readonly ObjectBlock[]>;
  /** What lists will tell as their version. */
  readonly resourceVersion: string | undefined;
}

/** In which slices they are encoded, and until when. */
export interface AheadPace {
  readonly slices: TimeSlices;
  readonly signal: AbortSignal;
}

interface Remembered {
  readonly list: RecentList;
  askedAtMs: number;
  compressedAtMs: number;
}

/** As many as a large cluster has namespaces, in both formats; the one that was asked for the longest ago goes first. */
const MAX_LISTS = 512;

/** Once so much has been encoded ahead, uncompressed, the rest is encoded when it is asked for. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Fewer are encoded in some milliseconds. */
const MIN_OBJECTS = OBJECTS_PER_SLICE;

/**
 * Remembers which long lists were asked for lately, and encodes them of the objects that come next, so that who asks again
 * and again never waits for thousands of objects to be encoded. What nobody asks for is not encoded.
 */
export class RecentLists {
  readonly #options: RecentListsOptions;
  readonly #remembered = new LruMap<string, Remembered>({ max: MAX_LISTS });

  constructor(options: RecentListsOptions) {
    this.#options = options;
  }

  /** Whether nothing would be encoded. */
  get isEmpty(): boolean {
    this.#forgetOld();
    return this.#remembered.size === 0;
  }

  /**
   * Notes that a list was asked for.
   *
   * @returns the body by which it is noticed, too, whether it is sent compressed
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
    const { compressedAtMs = Number.NEGATIVE_INFINITY } = this.#remembered.peek(key) ?? {};
    const remembered = { list, askedAtMs: clock.monotonicMs(), compressedAtMs };
    this.#remembered.set(key, remembered);
    const { gzipped } = body;
    if (!gzipped) return body;
    return {
      ...body,
      gzipped: () => {
        remembered.compressedAtMs = remembered.askedAtMs;
        return gzipped();
      },
    };
  }

  /**
   * Encodes what was asked for lately, the latest first, in time slices; requests that come meanwhile for the same objects wait for
   * it, and nothing is done twice.
   *
   * @throws the signal's reason when it aborts meanwhile
   */
  async encodeAhead(next: NextObjects, pace: AheadPace): Promise<void> {
    const oldestMs = this.#forgetOld();
    let bytes = 0;
    for (const { list, compressedAtMs } of [...this.#remembered.values()].reverse()) {
      pace.signal.throwIfAborted();
      const blocks = await next.list(list.resource.name, list.namespace, pace.slices);
      const body = await encodeWhole(list, blocks, next, pace);
      if (compressedAtMs >= oldestMs) await body.gzipped?.();
      bytes += lengthOf(body);
      if (bytes >= MAX_BYTES) return;
    }
  }

  /** @returns since when lists count */
  #forgetOld(): number {
    const { clock, rememberMs } = this.#options;
    const oldestMs = clock.monotonicMs() - rememberMs;
    for (const [key, { askedAtMs }] of this.#remembered) {
      if (askedAtMs >= oldestMs) break;
      this.#remembered.delete(key);
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
