import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { allowProgram } from './requested-programs.ts';
import { runToEnd } from './run-to-end.ts';
import { downloadTool, type Tool } from './tool-download.ts';

/** Where a tool is searched before it is downloaded. */
export interface ToolLocations {
  /** Folders, separated as in PATH. */
  readonly searchPath: string;
  /** Where downloaded tools are cached. */
  readonly cacheFolder: string;
}

/**
 * Finds a tool: the first on the search path that works, or one downloaded once into the cache folder.
 *
 * @param versionArgs arguments with which a working tool exits with 0
 * @throws Error if there is none on the path and none can be downloaded for this platform.
 */
export async function findTool(
  tool: Tool,
  versionArgs: readonly string[],
  { searchPath, cacheFolder }: ToolLocations,
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
