import type { Socket } from 'node:net';
import type { ChannelCredentials } from '@grpc/grpc-js';

/**
 * The connections of a channel. gRPC leaves one open for as long as its server does that has accepted it and says nothing, even
 * when the channel is closed.
 */
export class ChannelSockets {
  readonly #open = new Set<Socket>();

  /** The credentials, by which every connection goes before it is used. */
  watch(credentials: ChannelCredentials): ChannelCredentials {
    const make = credentials._createSecureConnector.bind(credentials);
    credentials._createSecureConnector = (...channel) => {
      const connector = make(...channel);
      const connect = connector.connect.bind(connector);
      connector.connect = (socket) => {
        this.#open.add(socket);
        socket.once('close', () => this.#open.delete(socket));
        return connect(socket);
      };
      return connector;
    };
    return credentials;
  }

  destroy(): void {
    for (const socket of this.#open) socket.destroy();
  }
}
