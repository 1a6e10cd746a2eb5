import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';

/** One event in JSON. */
export interface ReceivedEvent {
  readonly type: string;
  readonly object: {
    readonly kind: string;
    readonly apiVersion: string;
    readonly metadata: {
      readonly name?: string;
      readonly namespace?: string;
      readonly resourceVersion?: string;
      readonly annotations?: Readonly<Record<string, string>>;
    };
    readonly [field: string]: unknown;
  };
}

/** A watch of an API server on 127.0.0.1 over HTTP/1.1, read event by event. */
export class WatchStream implements AsyncDisposable {
  readonly response: IncomingMessage;
  readonly #lines: string[] = [];
  #rest = '';
  #hasEnded = false;
  #wake = () => {};

  private constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop() ?? '';
      this.#lines.push(...lines);
      this.#wake();
    });
    const end = () => {
      this.#hasEnded = true;
      this.#wake();
    };
    response.once('end', end);
    response.once('error', end);
  }

  /** Sends a request and waits for the head of the response. */
  static async open(port: number, path: string, headers: Record<string, string> = {}): Promise<WatchStream> {
    const requested = request({
      host: '127.0.0.1',
      port,
      path,
      headers,
      agent: false,
      rejectUnauthorized: false,
    });
    requested.on('error', () => {}); // reported by the response
    requested.end();
    const [response] = await once(requested, 'response');
    return new WatchStream(response);
  }

  /** The next `count` events; fewer if the stream ends first. */
  async take(count: number): Promise<readonly ReceivedEvent[]> {
    while (this.#lines.length < count && !this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#lines.splice(0, count).map((line) => JSON.parse(line) as ReceivedEvent);
  }

  /** Waits for the end and returns the events before it. */
  async remaining(): Promise<readonly ReceivedEvent[]> {
    return await this.take(Number.POSITIVE_INFINITY);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.response.destroy();
  }
}
