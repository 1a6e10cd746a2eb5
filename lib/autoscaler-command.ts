import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { startAutoscaler } from '#lib/autoscaler/autoscaler.ts';
import {
  type AutoscalerCommandLine,
  parseAutoscalerOptions,
} from '#lib/autoscaler/options/autoscaler-options.ts';
import { withFlagsOfEnvironment } from '#lib/autoscaler/options/scaled-objects-flags.ts';
import { systemClock } from '#lib/time/clock.ts';
import { collectYoungGenerationInOneThread, growYoungGenerationTo, limitHeapGrowth } from './heap-limits.ts';
import { type Program, serveUntilStopped } from './program.ts';

/** Measured: takes less CPU than 1, 2 or 16 MiB. */
const COLLECTING_YOUNG_BYTES = 4 * 2 ** 20;
/**
 * Thousands of HPAs decided concurrently survive two collections of a small young generation. With 5,000 HPAs, one of
 * 128 MiB takes 76 MiB more and some 30 millicores less (`make bench ARGS=hpa-5000`, one run each).
 */
const DECIDING_YOUNG_BYTES = 64 * 2 ** 20;

type Doctor = Extract<AutoscalerCommandLine, { readonly kind: 'doctor' }>;

/** Runs `autoscaler` or the subcommand of its first argument. @returns the exit status */
export async function runAutoscaler(argv: readonly string[], program: Program): Promise<number> {
  const [word = '', ...behind] = argv;
  if (word === 'explain-hpa') return await runExplainHpa(behind, program);
  const flags = withFlagsOfEnvironment(word === 'doctor' ? behind : argv, program.environment);
  const given = word === 'doctor' ? [word, ...flags] : flags;
  const commandLine = parseAutoscalerOptions(given, await program.ownNamespace());
  if (commandLine.kind === 'help') program.print(commandLine.text);
  else if (commandLine.kind === 'version') program.print(`${program.version.gitVersion}\n`);
  else if (commandLine.kind === 'doctor') return (await examine(commandLine, program)) ? 0 : 1;
  else {
    limitHeapGrowth();
    const { controllers, metricsAdapter } = commandLine.options;
    if (controllers.has('hpa')) {
      collectYoungGenerationInOneThread();
      growYoungGenerationTo(DECIDING_YOUNG_BYTES);
    } else if (metricsAdapter) growYoungGenerationTo(COLLECTING_YOUNG_BYTES);
    const identity = `${hostname()}_${randomUUID()}`;
    await serveUntilStopped(commandLine, program, (options, environment) =>
      startAutoscaler(options, { ...environment, identity }),
    );
  }
  return 0;
}

/** Loads its code on demand. */
async function runExplainHpa(argv: readonly string[], program: Program): Promise<number> {
  const { explainHpa, parseExplainHpaOptions } = await import('#lib/autoscaler/explain-hpa.ts');
  const commandLine = parseExplainHpaOptions(argv);
  program.print(commandLine.kind === 'help' ? commandLine.text : await explainHpa(commandLine.options));
  return 0;
}

/**
 * Runs `autoscaler doctor`; loads its code on demand.
 *
 * @returns whether no problem was found
 */
async function examine({ options, doctor }: Doctor, program: Program): Promise<boolean> {
  const { runDoctor } = await import('#lib/autoscaler/doctor.ts');
  const logger = program.startLog(options.logging);
  return await runDoctor(options, doctor, {
    access: await program.openAccess(options.kubeconfig, logger),
    clock: systemClock,
    userAgent: `autoscaler-doctor/${program.version.gitVersion}`,
    signal: program.interrupted,
    write: (text) => program.print(text),
  });
}
