import { findTool } from './find-tool.ts';

/**
 * Finds the real Helm: the first on `searchPath` that works, or one downloaded once into `cacheFolder`.
 *
 * @throws Error if there is none on the path and none can be downloaded for this platform.
 */
export function findHelm(searchPath = process.env.PATH ?? '', cacheFolder = '.cache'): Promise<string> {
  return findTool('helm', ['version', '--short'], { searchPath, cacheFolder });
}
