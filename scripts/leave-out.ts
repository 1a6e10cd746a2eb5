import type { Plugin } from 'esbuild';

/**
 * Leaves out of the bundle what packages bring and nothing here uses, for what is loaded is held in memory for as long as the
 * program runs: 3 MB of the heap.
 */
export const LEAVE_OUT: Plugin = {
  name: 'leave-out',
  setup(build) {
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
