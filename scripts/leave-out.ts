import { createRequire } from 'node:module';
import type { Plugin } from 'esbuild';

const { resolve } = createRequire(import.meta.url);

/**
 * Removes unused parts of packages from the bundle, since loaded code stays in memory while the program runs: 3 MB of
 * the heap.
 */
export const LEAVE_OUT: Plugin = {
  name: 'leave-out',
  setup(build) {
    // Its ES module imports node:http, with which Node loads fetch and WebSocket, 9 MB; its CommonJS module does not.
    build.onResolve({ filter: /^@koa\/router$/ }, ({ path }) => ({ path: resolve(path) }));
    // zod's messages in about 50 languages: 300 kB of text. English is its default.
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
    // 2,500 media types, once for koa and once for its parser of Content-Type. The server sets its own types; these are
    // koa's defaults for responses without one.
    build.onLoad({ filter: /[\\/]mime-db[\\/]db\.json$/ }, () => ({
      contents: JSON.stringify(MEDIA_TYPES),
      loader: 'json',
    }));
    // Its entry loads a browser's fetch, WebSocket and caches, mock servers and interceptors.
    build.onResolve({ filter: /^undici$/ }, ({ importer }) =>
      /[\\/]node_modules[\\/]/.test(importer) ? undefined : { path: 'undici', namespace: 'leave-out' },
    );
    build.onLoad({ filter: /^undici$/, namespace: 'leave-out' }, () => ({
      contents: UNDICI,
      resolveDir: import.meta.dirname,
    }));
    // Tracing, from which prom-client gets the span of an exemplar; no series has exemplars here.
    build.onResolve({ filter: /^@opentelemetry\/api$/ }, ({ importer }) =>
      /[\\/]prom-client[\\/]/.test(importer) ? { path: 'no-tracing', namespace: 'leave-out' } : undefined,
    );
    build.onLoad({ filter: /^no-tracing$/, namespace: 'leave-out' }, () => ({
      contents: 'export const trace = { getSpan() {} }; export const context = { active() {} };',
    }));
  },
};

const MEDIA_TYPES = {
  'application/json': { source: 'iana', charset: 'UTF-8', compressible: true, extensions: ['json'] },
  'application/octet-stream': { source: 'iana', compressible: true, extensions: ['bin'] },
  'text/html': { source: 'iana', compressible: true, extensions: ['html'] },
  'text/plain': { source: 'iana', compressible: true, extensions: ['txt', 'text'] },
};

/**
 * An entry of undici with the imports of the sources alone. The build fails if they import another name, or a file has
 * moved.
 */
const UNDICI = `
  import connect from 'undici/lib/api/api-connect.js';
  import request from 'undici/lib/api/api-request.js';
  import buildConnector from 'undici/lib/core/connect.js';
  import Agent from 'undici/lib/dispatcher/agent.js';
  import Client from 'undici/lib/dispatcher/client.js';
  import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
  import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';

  Object.assign(Dispatcher.prototype, { connect, request });
  export { Agent, buildConnector, Client, ProxyAgent };
`;
