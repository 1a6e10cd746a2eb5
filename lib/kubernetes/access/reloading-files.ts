import { readFile } from 'node:fs/promises';
import { Listeners } from '#lib/concurrency/listeners.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';

interface ReloadingFilesOptions<T> {
  readonly paths: readonly string[];
  /** Name of the files in messages: `the serving certificate`. */
  readonly what: string;
  /** Parses the contents; throws when they are invalid, or do not match. */
  readonly read: (texts: readonly string[]) => T;
  readonly clock: Clock;
  readonly logger: Logger;
  /** By default 5 s. */
  readonly intervalMs?: number;
}

/** A kubelet takes a minute to update a mounted secret; this adds little to that and costs almost nothing. */
const INTERVAL_MS = 5_000;

/**
 * Files that are replaced under a running program, such as mounted secrets and config maps.
 *
 * Their contents are compared, since a mounted file is a link to a link with a timestamp of its own. While they are
 * invalid, for example because only one of two matching files has been replaced, the last valid version remains in use.
 */
export class ReloadingFiles<T> implements AsyncDisposable {
  readonly #options: ReloadingFilesOptions<T>;
  readonly #listeners: Listeners<T>;
  readonly #disposal = new AbortController();
  #current: T;
  #texts: readonly string[];
  readonly #failures: FailureLog;
  readonly #watching: Promise<void>;

  private constructor(options: ReloadingFilesOptions<T>, texts: readonly string[]) {
    const { what, clock, logger } = options;
    this.#options = options;
    this.#listeners = new Listeners({ event: what, clock, logger });
    this.#failures = new FailureLog({
      logger,
      failing: `Cannot reload ${what}; keeping the previous version`,
    });
    this.#texts = texts;
    this.#current = options.read(texts);
    this.#watching = this.#watch();
  }

  /** @throws with the paths when the files cannot be read or are invalid */
  static async open<T>(options: ReloadingFilesOptions<T>): Promise<ReloadingFiles<T>> {
    try {
      return new ReloadingFiles(options, await readAll(options.paths));
    } catch (cause) {
      throw new Error(`Cannot use ${options.what} in ${options.paths.join(' and ')}`, { cause });
    }
  }

  /** The latest valid version; the same object until the files change. */
  get current(): T {
    return this.#current;
  }

  /** Calls a listener with every later version; one that throws misses that version. */
  onChange(listener: (current: T) => void): void {
    this.#listeners.add(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort(new Error('the files are no longer watched'));
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { clock, intervalMs = INTERVAL_MS } = this.#options;
    const { signal } = this.#disposal;
    while (!signal.aborted) {
      await clock.sleep(intervalMs, { signal }).then(
        () => this.#refresh(),
        () => {}, // disposed
      );
    }
  }

  async #refresh(): Promise<void> {
    const { paths, read, logger, what } = this.#options;
    const files = paths.join(', ');
    try {
      const texts = await readAll(paths);
      const isSame = texts.every((text, index) => text === this.#texts[index]);
      if (isSame && !this.#failures.isFailing) return;
      if (!isSame) {
        const next = read(texts);
        this.#texts = texts;
        this.#current = next;
        this.#listeners.notify(next);
      }
      this.#failures.succeed();
      logger.info(`Reloaded ${what}`, { files });
    } catch (error) {
      this.#failures.fail(error, { files });
    }
  }
}

function readAll(paths: readonly string[]): Promise<string[]> {
  return Promise.all(paths.map((path) => readFile(path, 'utf8')));
}
