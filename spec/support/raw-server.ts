import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { CertificateAuthority } from '#simulator/access/certificate-authority.ts';

/** A TCP or TLS server on loopback; the spec handles each connection. */
export class RawServer {
  readonly #server: net.Server;
  /** Accepted connections, in order. */
  readonly sockets: net.Socket[] = [];

  private constructor(server: net.Server, onConnection: (socket: net.Socket, index: number) => void) {
    this.#server = server;
    const event = server instanceof tls.Server ? 'secureConnection' : 'connection';
    server.on(event, (socket: net.Socket) => {
      socket.on('error', () => {}); // clients may close at any time
      onConnection(socket, this.sockets.push(socket) - 1);
    });
  }

  static async start(
    onConnection: (socket: net.Socket, index: number) => void,
    options: { readonly tls?: tls.TlsOptions } = {},
  ): Promise<RawServer> {
    const server = options.tls ? tls.createServer(options.tls) : net.createServer();
    const raw = new RawServer(server, onConnection);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return raw;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  /** Connections that neither side has closed. */
  get openSockets(): readonly net.Socket[] {
    return this.sockets.filter(({ closed }) => !closed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** Responds to every request on a connection with the same bytes. */
export function responding(response: string): (socket: net.Socket) => void {
  return (socket) => socket.on('data', () => socket.write(response));
}

/** An HTTP/1.1 response as text. */
export function httpResponse(body: string, { status = '200 OK', headers = '' } = {}): string {
  return `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;
}

/** A new authority and a server certificate that it issued for the names. */
export function serverCertificate(...names: string[]): { readonly ca: string; readonly tls: tls.TlsOptions } {
  const authority = new CertificateAuthority('spec-ca');
  const issued = authority.issue({ subject: { commonName: 'server' }, usages: ['serverAuth'], names });
  return { ca: authority.certificatePem, tls: { cert: issued.certificatePem, key: issued.privateKeyPem } };
}
