import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';

/** An HTTP proxy on 127.0.0.1 that tunnels connections and records their destinations. */
export class TunnelProxy implements AsyncDisposable {
  /** `HOST:PORT` of each tunnel. */
  readonly tunnels: string[] = [];
  readonly #server = http.createServer();
  readonly #sockets = new Set<net.Socket>();

  static async start(): Promise<TunnelProxy> {
    const proxy = new TunnelProxy();
    proxy.#server.on('connect', ({ url = '' }, client: net.Socket, head) => proxy.#tunnel(url, client, head));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #tunnel(target: string, client: net.Socket, head: Buffer): void {
    this.tunnels.push(target);
    const [host = '', port] = target.split(':');
    const upstream = net.connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket);
      socket.on('error', () => {}); // destroyed at the end
    }
  }
}
