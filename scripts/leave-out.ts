import { createRequire } from 'node:module';
import type { Plugin } from 'esbuild';

const { resolve } = createRequire(import.meta.url);

/**
 * Leaves out of the bundle what packages bring and nothing here uses, for what is loaded is held in memory for as long as the
 * program runs: 3 MB of the heap.
 */
export const LEAVE_OUT: Plugin = {
  name: 'leave-out',
  setup(build) {
    // Its ES module imports node:http, with which Node loads fetch and WebSocket, 9 MB; what require() gets of it does not.
    build.onResolve({ filter: /^@koa\/router$/ }, ({ path }) => ({ path: resolve(path) }));
    // zod's messages in some 50 languages: 300 kB of text. English is what it uses by itself.
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
    // 2,500 media types, once for koa and once for what it reads Content-Type with. We name those that we serve ourselves; these
    // are the ones that koa gives what has none, by their short names.
    build.onLoad({ filter: /[\\/]mime-db[\\/]db\.json$/ }, () => ({
      contents: JSON.stringify(MEDIA_TYPES),
      loader: 'json',
    }));
    // Its entry brings a browser's fetch, WebSocket and caches, mock servers and interceptors. Packages that import it get all of it.
    build.onResolve({ filter: /^undici$/ }, ({ importer }) =>
      /[\\/]node_modules[\\/]/.test(importer) ? undefined : { path: 'undici', namespace: 'leave-out' },
    );
    build.onLoad({ filter: /^undici$/, namespace: 'leave-out' }, () => ({
      contents: UNDICI,
      resolveDir: import.meta.dirname,
    }));
    // Tracing, which prom-client asks for the span of an exemplar; none of its series has exemplars here.
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

/** undici's entry for what the sources import of it. The build fails where they import another name, or a file has moved. */
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
