import { type ClientHttp2Session, connect } from 'node:http2';
import { Agent } from 'node:https';
import { type ApiRequest, requestHttp1, requestHttp2 } from './api-request.ts';

/** Requests that go on and on, over a kept HTTP/1.1 connection, a kept HTTP/2 one and one of its own each. */
export class RequestFlow implements AsyncDisposable {
  /** What came back that was no 200, and what did not come back. */
  readonly losses: string[] = [];
  /** How many responses came. */
  count = 0;
  readonly #next: () => ApiRequest;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #session: ClientHttp2Session;
  readonly #flowing: Promise<unknown>;
  #isStopped = false;

  /** @param next makes each request again, so that a client can change what it shows; the session keeps the first */
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

  async #flow(ask: (request: ApiRequest) => Promise<{ readonly status: number }>): Promise<void> {
    while (!this.#isStopped) {
      try {
        const { status } = await ask(this.#next());
        if (status !== 200) this.losses.push(`status ${status}`);
        this.count++;
      } catch (error) {
        this.losses.push(String(error));
        return; // nothing will ever come of a broken connection
      }
    }
  }
}
