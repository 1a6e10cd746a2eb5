import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';

/** Forwards connections to a local port until it is cut: from then on, it drops packets without closing connections. */
export class BreakableLink implements AsyncDisposable {
  readonly #sockets = new Set<net.Socket>();
  readonly #server: net.Server;
  #isCut = false;

  private constructor(port: number) {
    this.#server = net.createServer((near) => {
      const far = net.connect(port, '127.0.0.1');
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from);
        from.on('data', (bytes) => !this.#isCut && to.write(bytes));
        from.on('error', () => {});
        from.once('close', () => {
          this.#sockets.delete(from);
          to.destroy();
        });
      }
    });
  }

  static async to(port: number): Promise<BreakableLink> {
    const link = new BreakableLink(port);
    link.#server.listen(0, '127.0.0.1');
    await once(link.#server, 'listening');
    return link;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    this.#isCut = true;
  }

  /** Forwards new connections; those from before the cut are broken, since data is missing from them. */
  mend(): void {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
