import { findTool } from './find-tool.ts';

/**
 * Where the real Helm is: the first on `searchPath` that works, else one downloaded once into `cacheFolder`.
 *
 * @throws Error where there is none on the path and none can be had for this platform.
 */
export function findHelm(searchPath = process.env.PATH ?? '', cacheFolder = '.cache'): Promise<string> {
  return findTool('helm', ['version', '--short'], { searchPath, cacheFolder });
}
