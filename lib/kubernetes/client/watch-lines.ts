/** Shorter lines take less than a millisecond to parse. */
const MAX_QUICK_LENGTH = 64 * 1024;
/** Longer lines are read ahead up to this length altogether, so that later changes replace earlier ones. */
const MAX_AHEAD_LENGTH = 16 * 1024 * 1024;

/** The object of an event, as far as it matters for its turn. */
interface EventOwner {
  readonly uid: string;
  readonly namespace: string | undefined;
}

interface PendingLine {
  readonly text: string;
  readonly owner: EventOwner | undefined;
}

/**
 * The lines of a watch that have not been taken, in order. A long line with a change of an object replaces an earlier one: any
 * tenant may change an object of 1.5 MiB 50 times a second, and only its last state counts. The line moves to the end, so
 * lines are in the order of resource versions.
 */
class PendingLines {
  /** By UID where lines may be replaced. */
  readonly #lines = new Map<string | symbol, PendingLine>();
  #length = 0;

  get first(): PendingLine | undefined {
    return this.#lines.values().next().value;
  }

  get isFull(): boolean {
    return this.#length >= MAX_AHEAD_LENGTH;
  }

  push(text: string): void {
    const owner = text.length > MAX_QUICK_LENGTH ? readOwner(text) : undefined;
    const isChange = owner !== undefined && findText(text, ['type']) === 'MODIFIED';
    const key = isChange ? owner.uid : Symbol();
    this.#length += text.length - (this.#lines.get(key)?.text.length ?? 0);
    this.#lines.delete(key);
    this.#lines.set(key, { text, owner });
  }

  shift(): string | undefined {
    for (const [key, { text }] of this.#lines) {
      this.#lines.delete(key);
      this.#length -= text.length;
      return text;
    }
    return undefined;
  }
}

function readOwner(text: string): EventOwner | undefined {
  const uid = findText(text, ['object', 'metadata', 'uid']);
  return uid === undefined
    ? undefined
    : { uid, namespace: findText(text, ['object', 'metadata', 'namespace']) };
}

interface WatchLinesOptions {
  /** Called before a long line is returned, which takes milliseconds to process; waits for the turn of its namespace. */
  readonly beforeLong: (namespace: string | undefined) => Promise<void>;
  /** Stops reading when no more lines are taken. */
  readonly leave: () => void;
}

/**
 * Reads the lines of a watch ahead of their processing. Of long lines that wait, the last one of each object is returned.
 *
 * @throws the error of `lines`, after the lines before it
 */
export async function* latestLines(
  lines: AsyncIterable<string>,
  { beforeLong, leave }: WatchLinesOptions,
): AsyncGenerator<string, void, void> {
  const pending = new PendingLines();
  let progress = Promise.withResolvers<void>();
  const notify = () => {
    progress.resolve();
    progress = Promise.withResolvers();
  };
  let end: { readonly error?: unknown } | undefined;
  const read = async () => {
    for await (const line of lines) {
      pending.push(line);
      notify();
      while (pending.isFull && !end) await progress.promise;
      if (end) return;
    }
  };
  read()
    .then(
      () => {
        end ??= {};
      },
      (error: unknown) => {
        end ??= { error };
      },
    )
    .finally(notify);
  try {
    for (;;) {
      const { first } = pending;
      if (!first && end) break;
      if (!first) {
        await progress.promise;
        continue;
      }
      if (first.text.length > MAX_QUICK_LENGTH) await beforeLong(first.owner?.namespace);
      const line = pending.shift(); // may be another one by now
      notify();
      if (line !== undefined) yield line;
    }
    if (end && 'error' in end) throw end.error;
  } finally {
    end ??= {};
    leave();
    notify();
  }
}

/**
 * Finds a text in JSON without parsing what surrounds it, in linear time. Takes JSON without white space, as API servers
 * write it.
 *
 * @returns `undefined` where there is none, or it has escapes
 */
export function findText(json: string, path: readonly string[]): string | undefined {
  let at = 0;
  for (const name of path) {
    at = findMember(json, at, name);
    if (at === -1) return undefined;
  }
  if (json[at] !== '"') return undefined;
  const text = json.slice(at + 1, endOfString(json, at) - 1);
  return text.includes('\\') ? undefined : text;
}

/** @returns where the value of a member begins; -1 where there is none */
function findMember(json: string, start: number, name: string): number {
  if (json[start] !== '{') return -1;
  for (let at = start + 1; json[at] === '"'; ) {
    const colon = endOfString(json, at);
    if (json[colon] !== ':') return -1;
    if (json.slice(at + 1, colon - 1) === name) return colon + 1;
    const comma = endOfValue(json, colon + 1);
    if (json[comma] !== ',') return -1;
    at = comma + 1;
  }
  return -1;
}

function endOfValue(json: string, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; ) {
    const character = json[at];
    if (character === '"') at = endOfString(json, at);
    else if (character === '}' || character === ']') {
      if (depth === 0) return at; // of the object or list around a number or word
      depth--;
      at++;
    } else if (character === ',' && depth === 0) return at;
    else {
      if (character === '{' || character === '[') depth++;
      at++;
      continue;
    }
    if (depth === 0) return at;
  }
  return json.length;
}

function endOfString(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (json[at - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
  return json.length;
}
