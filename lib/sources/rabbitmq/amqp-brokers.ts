import type { Clock } from '#lib/time/clock.ts';
import type { NetworkOptions } from '../network/allowed-hosts.ts';
import { ClientPool } from '../network/client-pool.ts';
import type { SourceServer } from '../network/tls.ts';
import { digest, type Query, shorten } from '../query.ts';
import { type AmqpAccess, AmqpConnection } from './amqp-connection.ts';

export interface AmqpBroker extends AmqpAccess, SourceServer {}

interface AmqpBrokersOptions extends NetworkOptions {
  readonly clock: Clock;
}

/** Queries brokers by AMQP 0-9-1 over pooled connections. */
export class AmqpBrokers implements Disposable {
  readonly #options: AmqpBrokersOptions;
  readonly #connections: ClientPool<AmqpConnection>;

  constructor(options: AmqpBrokersOptions) {
    this.#options = options;
    this.#connections = new ClientPool(options);
  }

  /** Creates a query for the number of ready messages in a queue. */
  queueLength(broker: AmqpBroker, queue: string): Query {
    const { host, port, vhost, login, tls } = broker;
    const key = JSON.stringify([host, port, vhost, digest([login, tls])]);
    const { allowedHosts, findAddresses, share } = this.#options;
    return {
      key: JSON.stringify(['amqp', key, queue]),
      description: `length of queue ${shorten(queue)} at ${host}:${port}`,
      source: key, // requests on one connection wait for each other
      run: async (signal) => {
        try {
          const value = await this.#connections.use(key, {
            connect: (connecting) =>
              AmqpConnection.connect({ ...broker, allowedHosts, findAddresses, share }, connecting),
            work: (connection) => connection.messageCount(queue),
            signal,
          });
          return [{ value, labels: {} }];
        } catch (cause) {
          if (signal.aborted) throw signal.reason;
          throw new Error(`Cannot read the length of queue ${shorten(queue)} at ${host}:${port}`, { cause });
        }
      },
    };
  }

  [Symbol.dispose](): void {
    this.#connections[Symbol.dispose]();
  }
}
