import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';

/** A way to a port of this machine that can be cut: packets vanish, and nobody is told. */
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

  /** Connections from before are broken: what they lost would be missing. */
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
