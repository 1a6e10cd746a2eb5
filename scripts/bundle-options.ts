import type { BuildOptions } from 'esbuild';
import { LEAVE_OUT } from './leave-out.ts';

/** Options of esbuild for a bundle that requires only Node. */
export const BUNDLE_OPTIONS = {
  bundle: true,
  splitting: true, // lazily imported modules cost no memory in runs without them
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // Bundled CommonJS packages call require(), which an ES module does not have.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  plugins: [LEAVE_OUT],
} as const satisfies BuildOptions;
