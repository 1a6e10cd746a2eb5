import { execFile } from 'node:child_process';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Instruction, parseDockerfile } from './dockerfile.ts';

/** Result of the last stage of the Dockerfile, as far as it can be built without a container engine. */
export interface BuiltImage {
  /** Contains the image's files, without the base image. */
  readonly root: string;
  /** The USER instruction, as `uid:gid`. */
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly labels: string;
}

/**
 * Runs the Dockerfile's instructions, stage by stage, in an empty folder: COPY from the checkout and from earlier
 * stages, RUN in a shell with this process's Node and npm in place of the base image's.
 *
 * @throws Error with the output of a failed command, and for an unsupported instruction
 */
export async function buildImage(folder: string, checkout = '.'): Promise<BuiltImage> {
  const image = { user: '', entrypoint: [] as readonly string[], labels: '' };
  let root = '';
  for (const [index, stage] of parseDockerfile(
    await readFile(join(checkout, 'Dockerfile'), 'utf8'),
  ).entries()) {
    root = join(folder, stage.name || `stage-${index}`);
    await mkdir(root, { recursive: true });
    let workingDirectory = '/';
    for (const instruction of stage.instructions) {
      const { keyword, argument } = instruction;
      if (keyword === 'WORKDIR') workingDirectory = argument;
      else if (keyword === 'COPY')
        await copy(instruction, { folder, checkout, to: { root, workingDirectory } });
      else if (keyword === 'RUN') await runCommand(argument, join(root, workingDirectory));
      else if (keyword === 'USER') image.user = argument;
      else if (keyword === 'ENTRYPOINT') image.entrypoint = JSON.parse(argument);
      else if (keyword === 'LABEL') image.labels += ` ${argument}`;
      else if (keyword !== 'ENV' && keyword !== 'ARG')
        throw new Error(`Cannot follow ${keyword} ${argument}`);
    }
  }
  return { root, ...image };
}

async function copy(
  { argument }: Instruction,
  places: {
    readonly folder: string;
    readonly checkout: string;
    readonly to: { readonly root: string; readonly workingDirectory: string };
  },
): Promise<void> {
  const [, stage, rest = ''] = /^(?:--from=(\S+)\s+)?(.*)$/.exec(argument) ?? [];
  const source = stage ? join(places.folder, stage) : places.checkout;
  const paths = rest.split(/\s+/);
  const target = paths.pop() ?? '';
  const { root, workingDirectory } = places.to;
  const destination = join(root, target.startsWith('/') ? target : join(workingDirectory, target));
  for (const path of paths) {
    const from = join(source, path);
    const isInto = target.endsWith('/') && basename(from).includes('.');
    const to = isInto ? join(destination, basename(from)) : destination;
    await mkdir(dirname(to), { recursive: true });
    await cp(from, to, { recursive: true });
  }
}

async function runCommand(command: string, cwd: string): Promise<void> {
  await mkdir(cwd, { recursive: true });
  try {
    await promisify(execFile)('/bin/sh', ['-c', command], { cwd, timeout: 300_000, maxBuffer: 2 ** 26 });
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`Cannot run ${command}:\n${stdout}${stderr}`, { cause: error });
  }
}
