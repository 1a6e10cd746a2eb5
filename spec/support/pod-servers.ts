import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Real HTTP servers on separate loopback addresses and one common port, as pods have them. */
export class PodServers implements AsyncDisposable {
  readonly port: number;
  readonly #servers: readonly http.Server[];

  private constructor(port: number, servers: readonly http.Server[]) {
    this.port = port;
    this.#servers = servers;
  }

  /** @param listeners by address, as in `127.0.0.2` */
  static async start(
    listeners: Readonly<Record<string, RequestListener>>,
    options: http.ServerOptions = {},
  ): Promise<PodServers> {
    for (;;) {
      const servers: http.Server[] = [];
      let port = 0;
      try {
        for (const [address, listener] of Object.entries(listeners)) {
          const server = http.createServer(options, listener).listen(port, address);
          servers.push(server);
          await once(server, 'listening');
          port = (server.address() as AddressInfo).port;
        }
        return new PodServers(port, servers);
      } catch (error) {
        for (const server of servers) server.close();
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error; // the port is in use at another address
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
  }
}
