import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from 'mocha';
import { freePort } from './free-port.ts';
import { requireProgram } from './machine-programs.ts';
import { SpawnedProgram } from './spawned-program.ts';
import { TemporaryDirectory } from './temporary-directory.ts';

/** A RabbitMQ broker with the management plugin, on its own ports. */
export interface RealRabbitmq extends AsyncDisposable {
  readonly host: string;
  readonly amqpPort: number;
  readonly httpPort: number;
  /** Creates a queue, by default in the virtual host `/`. */
  makeQueue(name: string): Promise<void>;
  publish(queue: string, messages: number): Promise<void>;
  take(queue: string, messages: number): Promise<void>;
  /** Sends a request to the management plugin. */
  manage(method: string, path: string, body?: object): Promise<Response>;
}

const HOST = '127.0.0.1';

/** Starts Debian's rabbitmq-server; skips the spec if there is none. */
export async function startRabbitmq(spec: Context): Promise<RealRabbitmq> {
  const portMapper = await requireProgram(spec, 'epmd');
  const binary = await requireProgram(spec, 'rabbitmq-server');
  await using starting = new AsyncDisposableStack();
  const directory = starting.use(await TemporaryDirectory.create());
  const [amqpPort, httpPort, epmdPort, distPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  starting.use(new SpawnedProgram(portMapper, ['-address', HOST, '-port', `${epmdPort}`], { name: 'epmd' }));
  const plugins = await directory.write('enabled_plugins', '[rabbitmq_management].\n');
  const config = await directory.write(
    'rabbitmq.conf',
    [
      `listeners.tcp.1 = ${HOST}:${amqpPort}`,
      `management.tcp.ip = ${HOST}`,
      `management.tcp.port = ${httpPort}`,
      'collect_statistics_interval = 1000',
      'loopback_users.guest = true',
      'log.console = false',
      '',
    ].join('\n'),
  );
  for (const name of ['mnesia', 'log', 'home']) await mkdir(join(directory.path, name));
  const env = {
    PATH: process.env.PATH,
    HOME: join(directory.path, 'home'),
    ERL_EPMD_PORT: `${epmdPort}`,
    ERL_EPMD_ADDRESS: HOST,
    RABBITMQ_NODENAME: `spec${amqpPort}@localhost`,
    RABBITMQ_DIST_PORT: `${distPort}`,
    RABBITMQ_MNESIA_BASE: join(directory.path, 'mnesia'),
    RABBITMQ_LOG_BASE: join(directory.path, 'log'),
    RABBITMQ_PID_FILE: join(directory.path, 'pid'),
    RABBITMQ_ENABLED_PLUGINS_FILE: plugins,
    RABBITMQ_CONFIG_FILE: config,
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
  };
  const server = starting.use(new SpawnedProgram(binary, [], { name: 'rabbitmq-server', env }));
  const manage = (method: string, path: string, body?: object) =>
    fetch(`http://${HOST}:${httpPort}/api${path}`, {
      method,
      headers: {
        authorization: `Basic ${Buffer.from('guest:guest').toString('base64')}`,
        'content-type': 'application/json',
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  const succeed = async (method: string, path: string, body?: object) => {
    const response = await manage(method, path, body);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  await server.until(() =>
    manage('GET', '/overview').then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const stack = starting.move();
  return {
    ...{ host: HOST, amqpPort, httpPort, manage },
    makeQueue: async (name) => void (await succeed('PUT', `/queues/%2F/${encodeURIComponent(name)}`, {})),
    async publish(queue, messages) {
      for (let left = messages; left > 0; left--)
        await succeed('POST', '/exchanges/%2F/amq.default/publish', {
          properties: {},
          routing_key: queue,
          payload: 'work',
          payload_encoding: 'string',
        });
    },
    take: async (queue, messages) =>
      void (await succeed('POST', `/queues/%2F/${encodeURIComponent(queue)}/get`, {
        count: messages,
        ackmode: 'ack_requeue_false',
        encoding: 'auto',
      })),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
