import type { ServerResponse } from 'node:http';
import { seededFraction } from '#simulator/random.ts';

/** One change of an object, as a watch event. */
interface Happened {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  readonly name: string;
}

const PAGE_LIMIT = 500;
/** A few objects have many changes, so that events of one object arrive out of order, too. */
const HOT = { objects: 20, share: 0.4 };
/** Maximum number of events by which one is delayed, and maximum age of a repeated event, in events. */
const MAX_DELAY = 6;
const MAX_REPEATED = 50;

/**
 * Serves one collection with everything that a watch must tolerate: it repeats events, also those from before a list,
 * reorders them, also those of one object, expires its history, sends no bookmarks, and breaks connections.
 *
 * It delivers every reordered event: no client can detect an event that a broken watch withheld.
 */
export class HostileWatchServer {
  /** The version of each existing object. */
  readonly live = new Map<string, number>();
  lists = 0;
  expired = 0;
  opened = 0;
  readonly #objects: number;
  readonly #open = new Map<ServerResponse, { isInOrder: boolean }>();
  #version = 0;
  #compactions = 0;
  #history: Happened[] = [];
  #past: Happened[] = [];
  #draws = 0;

  /** @param objects number of names for which objects can exist; initially each exists */
  constructor(objects: number) {
    this.#objects = objects;
    for (let index = 0; index < objects; index++) this.live.set(`o${index}`, ++this.#version);
    this.#compactions = this.#version;
  }

  get isWatched(): boolean {
    return this.#open.size > 0;
  }

  /** Adds, changes and deletes objects, and sends events to open watches. */
  change(count: number): void {
    const happened = Array.from({ length: count }, () => this.#change());
    for (const [response, state] of this.#open) this.#send(response, state, happened);
  }

  /** Changes one object of a given name; all watches receive it last. */
  finish(name: string): void {
    this.live.set(name, ++this.#version);
    for (const response of this.#open.keys())
      write(response, { type: 'ADDED', name, version: this.#version });
  }

  /** Expires the history: no watch can resume from before this. */
  remove(): void {
    this.#history = [];
    this.#compactions = this.#version;
  }

  /** Ends all watches, either within a line or cleanly. */
  cut(): void {
    for (const [response, { isInOrder }] of this.#open) {
      if (isInOrder && this.#draw() < 0.5) response.destroy();
      else response.end();
    }
    this.#open.clear();
  }

  respond(url: URL, response: ServerResponse): void {
    const { searchParams } = url;
    if (searchParams.has('watch')) this.#watch(Number(searchParams.get('resourceVersion')), response);
    else this.#list(searchParams.get('continue'), response);
  }

  #draw(): number {
    return seededFraction(11, this.#draws++);
  }

  #change(): Happened {
    const among = this.#draw() < HOT.share ? HOT.objects : this.#objects;
    const name = `o${Math.floor(this.#draw() * among)}`;
    const isThere = this.live.has(name);
    const type = !isThere ? 'ADDED' : this.#draw() < 0.2 ? 'DELETED' : 'MODIFIED';
    const version = ++this.#version;
    if (type === 'DELETED') this.live.delete(name);
    else this.live.set(name, version);
    const happened: Happened = { type, version, name };
    this.#history.push(happened);
    this.#past = [...this.#past.slice(1 - MAX_REPEATED), happened];
    return happened;
  }

  #list(continueAt: string | null, response: ServerResponse): void {
    const [version = 0, start = 0] = (continueAt ?? `${this.#version}:0`).split(':').map(Number);
    if (start === 0) this.lists++;
    const all = [...this.live];
    const end = start + PAGE_LIMIT;
    const items = all.slice(start, end).map(([name, at]) => objectOf(name, at));
    const metadata = {
      resourceVersion: `${version}`,
      ...(end < all.length && { continue: `${version}:${end}` }),
    };
    response.end(JSON.stringify({ metadata, items }));
  }

  #watch(from: number, response: ServerResponse): void {
    if (from < this.#compactions) {
      this.expired++;
      const object = { kind: 'Status', code: 410, reason: 'Expired' };
      response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`);
      return;
    }
    this.opened++;
    const state = { isInOrder: true };
    this.#open.set(response, state);
    response.flushHeaders();
    this.#send(
      response,
      state,
      this.#history.filter(({ version }) => version > from),
    );
  }

  #send(response: ServerResponse, state: { isInOrder: boolean }, happened: readonly Happened[]): void {
    const events = this.#draw() < 0.3 ? happened : this.#disordered(happened);
    if (events !== happened) state.isInOrder = false;
    for (const event of events) write(response, event);
  }

  #disordered(happened: readonly Happened[]): readonly Happened[] {
    const repeated = this.#past.filter(() => this.#draw() < 0.1);
    const located = happened.map((event, index) => ({ event, at: index + this.#draw() * MAX_DELAY }));
    for (const event of repeated) located.push({ event, at: this.#draw() * (happened.length + 1) });
    return located.sort((a, b) => a.at - b.at).map(({ event }) => event);
  }
}

function write(response: ServerResponse, { type, name, version }: Happened): void {
  response.write(`${JSON.stringify({ type, object: objectOf(name, version) })}\n`);
}

function objectOf(name: string, version: number): object {
  return { metadata: { name, resourceVersion: `${version}` } };
}
