import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { imageEnvironment } from '#spec/support/image-environment.ts';
import type { SimulatedSystem } from '#spec/support/simulated-system.ts';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { kubeletPortOf } from '../inspect-kubelet.ts';

/** Options of the bare scraper's process. */
export interface BareScraperOrder {
  readonly nodes: number;
  /** Port of all kubelets. */
  readonly port: number;
  readonly path: string;
  readonly token: string;
  readonly caFile: string;
  readonly intervalMs: number;
}

const READY_WITHIN_MS = 120_000;

/** Starts a process that scrapes a server's kubelets with the server's token. Resolves when all are connected. */
export async function spawnBareScraper(
  system: SimulatedSystem,
  order: Pick<BareScraperOrder, 'nodes' | 'path' | 'intervalMs'>,
): Promise<SpawnedProgram> {
  const kubeconfig = await readFile(join(system.folder, 'metrics-server.kubeconfig'), 'utf8');
  const { users } = parse(kubeconfig) as { users: readonly { user: { token: string } }[] };
  const reported: BareScraperOrder = {
    ...order,
    port: kubeletPortOf(system),
    token: users[0]?.user.token ?? '',
    caFile: join(system.folder, 'kubelet-ca.crt'),
  };
  const program = new SpawnedProgram(
    process.execPath,
    [`${import.meta.dirname}/main.ts`, JSON.stringify(reported)],
    { name: 'the bare scraper', env: { ...process.env, ...imageEnvironment() } },
  );
  try {
    await program.line(/^Scraping$/, READY_WITHIN_MS);
    return program;
  } catch (error) {
    await program[Symbol.asyncDispose]();
    throw error;
  }
}
