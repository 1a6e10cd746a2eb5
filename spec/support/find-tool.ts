import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { allowProgram } from './requested-programs.ts';
import { runToEnd } from './run-to-end.ts';
import { downloadTool, type Tool } from './tool-download.ts';

/** Where to look for a tool before it is downloaded. */
export interface ToolPlaces {
  /** Folders as in PATH. */
  readonly searchPath: string;
  /** Where a downloaded one is kept. */
  readonly cacheFolder: string;
}

/**
 * Where a tool is: the first on the search path that works, else one downloaded once into the cache folder.
 *
 * @param versionArgs arguments with which one that works exits with 0
 * @throws Error where there is none on the path and none can be had for this platform.
 */
export async function findTool(
  tool: Tool,
  versionArgs: readonly string[],
  { searchPath, cacheFolder }: ToolPlaces,
): Promise<string> {
  for (const folder of searchPath.split(delimiter).filter((entry) => entry !== '')) {
    const candidate = join(folder, tool);
    if (await isWorking(candidate, versionArgs)) return candidate;
  }
  const downloaded = resolve(cacheFolder, tool);
  if (!(await isWorking(downloaded, versionArgs))) await downloadTool(tool, downloaded);
  return downloaded;
}

async function isWorking(path: string, versionArgs: readonly string[]): Promise<boolean> {
  const isExecutable = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isExecutable) return false;
  allowProgram(path);
  return (await runToEnd(path, versionArgs, 60_000)).exitStatus === 0;
}
