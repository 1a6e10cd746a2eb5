// The parts of undici that reach an API server and kubelets. Its own entry loads all that it has, a browser's fetch and WebSocket among
// it, which takes 12 MB of memory.
import connect from 'undici/lib/api/api-connect.js';
import request from 'undici/lib/api/api-request.js';
import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import Client from 'undici/lib/dispatcher/client.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';

Object.assign(Dispatcher.prototype, { connect, request }); // as its own entry does

export { Agent, buildConnector, Client, ProxyAgent };
