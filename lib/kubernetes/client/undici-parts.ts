// The parts of undici that reach an API server. Its own entry loads all that it has, a browser's fetch and WebSocket
// among it, which takes 12 MB of memory, and hangs these functions on the prototype of all dispatchers.
import type { Dispatcher } from 'undici';
import apiConnect from 'undici/lib/api/api-connect.js';
import apiRequest from 'undici/lib/api/api-request.js';
import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import Client from 'undici/lib/dispatcher/client.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import ProxyAgentBase from 'undici/lib/dispatcher/proxy-agent.js';

/** Sends a request by a dispatcher, whose prototype has no such method. */
export function requestBy(
  dispatcher: Dispatcher,
  options: Dispatcher.RequestOptions,
): Promise<Dispatcher.ResponseData> {
  return apiRequest.call(dispatcher, options);
}

/** A proxy agent that needs no `connect` on the prototype: the pool by which it reaches the proxy has its own. */
export class ProxyAgent extends ProxyAgentBase {
  constructor(options: ProxyAgentBase.Options) {
    super({
      ...options,
      clientFactory: (origin, poolOptions) =>
        Object.assign(new Pool(origin, poolOptions), { connect: apiConnect }),
    });
  }
}

export { Agent, buildConnector, Client };
