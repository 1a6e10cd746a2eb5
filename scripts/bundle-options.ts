import type { BuildOptions } from 'esbuild';
import { LEAVE_OUT } from './leave-out.ts';

/** How sources become a bundle that needs Node and nothing else. */
export const BUNDLE_OPTIONS = {
  bundle: true,
  splitting: true, // what is imported lazily costs no memory in the runs that do not need it
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // Bundled CommonJS packages call require(), which an ES module does not have by itself.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  plugins: [LEAVE_OUT],
} as const satisfies BuildOptions;
