import { type ClientHttp2Session, connect } from 'node:http2';
import { Agent } from 'node:https';
import { type ApiRequest, requestHttp1, requestHttp2 } from './api-request.ts';

/** Continuous requests over a pooled HTTP/1.1 connection, an HTTP/2 session, and new connections. */
export class RequestFlow implements AsyncDisposable {
  /** Responses other than 200, and requests without a response. */
  readonly losses: string[] = [];
  /** Number of responses. */
  count = 0;
  readonly #next: () => ApiRequest;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #session: ClientHttp2Session;
  readonly #flowing: Promise<unknown>;
  #isStopped = false;

  /** @param next builds each request, so that credentials can change; the session keeps the first ones */
  constructor(next: () => ApiRequest) {
    this.#next = next;
    const { port, cert, key } = next();
    this.#session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, cert, key });
    this.#session.on('error', (error) => this.losses.push(`HTTP/2 session: ${error.message}`));
    this.#flowing = Promise.all([
      this.#flow((request) => requestHttp1({ ...request, agent: this.#agent })),
      this.#flow((request) => requestHttp2({ ...request, session: this.#session })),
      this.#flow(requestHttp1),
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#flowing;
    this.#session.close();
    this.#agent.destroy();
  }

  async #flow(send: (request: ApiRequest) => Promise<{ readonly status: number }>): Promise<void> {
    while (!this.#isStopped) {
      try {
        const { status } = await send(this.#next());
        if (status !== 200) this.losses.push(`status ${status}`);
        this.count++;
      } catch (error) {
        this.losses.push(String(error));
        return; // a broken connection yields no response
      }
    }
  }
}
