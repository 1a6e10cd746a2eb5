import { LruMap } from '#lib/cache/lru-map.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';

interface DryRunOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Logger;
}

/** A request to the API server. */
interface WriteRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
}

/** Requests that are sent by POST, but change nothing: reviews of tokens and permissions. */
const REVIEW =
  /^\/apis\/(authentication|authorization)\.k8s\.io\/[^/]+\/(namespaces\/[^/]+\/)?(tokenreviews|(self|local)?subject(access|rules)reviews|selfsubjectreviews)$/;
/** Written beside a decision, and not logged by default; scales and Jobs are logged with their reason instead. */
const UNLOGGED = /\/(status|scale)$|^\/apis\/batch\/v1\/namespaces\/[^/]+\/jobs$/;
const TOKEN = /^\/api\/v1\/namespaces\/[^/]+\/serviceaccounts\/[^/]+\/token$/;
const VERBOSE = 4;
/** The least recently logged objects are evicted first, and may be logged again. */
const MAX_LOGGED = 10_000;

/**
 * Replaces the API server for writes: it responds as if a write had been accepted, without validation, and logs once
 * what would have been written, and again when that changes.
 */
export class DryRun {
  readonly #options: DryRunOptions;
  readonly #logged = new LruMap<string, string>({ max: MAX_LOGGED });

  constructor(options: DryRunOptions) {
    this.#options = options;
  }

  /** Whether a request is a write, which must not be sent. */
  static isWrite({ method, path }: Pick<WriteRequest, 'method' | 'path'>): boolean {
    return method !== 'GET' && !REVIEW.test(withoutQuery(path));
  }

  /**
   * Logs what would be done to an object, unless it equals the last line for that object.
   *
   * @param key identifies the object
   */
  report(key: string, message: string, verbosity = 0): void {
    if (this.#logged.peek(key) === message) return;
    this.#logged.set(key, message);
    this.#options.logger.info(message, undefined, verbosity);
  }

  /**
   * The response that the API server would have sent, derived from the request and the current object.
   *
   * @param get reads the current object; if that fails, the response is the change alone
   * @throws an Error for a token, which cannot be made up
   */
  async respond(request: WriteRequest, get: (path: string) => Promise<unknown>): Promise<unknown> {
    const path = withoutQuery(request.path);
    if (TOKEN.test(path)) throw new Error(`Cannot post ${path}: a dry run requests no tokens`);
    const method = request.method.toLowerCase();
    this.report(`${method} ${path}`, `Would ${method} ${path}`, UNLOGGED.test(path) ? VERBOSE : 0);
    if (request.method === 'DELETE') return { kind: 'Status', apiVersion: 'v1', status: 'Success' };
    const body = isRecord(request.body) ? request.body : {};
    if (request.method !== 'PATCH') return request.method === 'POST' ? this.#created(body) : body;
    const object = await get(path.replace(/\/status$/, '')).catch(() => undefined);
    const current = isRecord(object) ? object : { metadata: metadataOf(path) };
    return request.contentType === 'application/apply-patch+yaml'
      ? { ...current, ...body, metadata: merged(current.metadata, body.metadata) }
      : merged(current, body);
  }

  #created(body: Readonly<Record<string, unknown>>): unknown {
    const given = isRecord(body.metadata) ? body.metadata : {};
    const name = given.name ?? `${given.generateName ?? ''}dry-run`;
    const creationTimestamp = new Date(this.#options.clock.nowMs()).toISOString();
    return { ...body, metadata: { creationTimestamp, ...given, name } };
  }
}

/** RFC 7396. */
function merged(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result = new Map(Object.entries(isRecord(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, merged(result.get(key), value));
  }
  return Object.fromEntries(result);
}

function metadataOf(path: string): object {
  const [, namespace] = /\/namespaces\/([^/]+)\//.exec(path) ?? [];
  const name = path
    .replace(/\/status$/, '')
    .split('/')
    .at(-1);
  return { name, ...(namespace !== undefined && { namespace }) };
}

function withoutQuery(path: string): string {
  return path.split('?', 1)[0] ?? '';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
