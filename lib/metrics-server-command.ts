import { runDoctor } from '#lib/resource-metrics/doctor/doctor.ts';
import { startMetricsServer } from '#lib/resource-metrics/metrics-server.ts';
import { type CommandLine, parseOptions } from '#lib/resource-metrics/options.ts';
import { systemClock } from '#lib/time/clock.ts';
import { FittingYoungGeneration } from './heap-limits.ts';
import { type Program, serveUntilStopped, startLog } from './program.ts';

type Doctor = Extract<CommandLine, { readonly kind: 'doctor' }>;

/** Runs `metrics-server` or its doctor. @returns the exit status */
export async function runMetricsServer(argv: readonly string[], program: Program): Promise<number> {
  const commandLine = parseOptions(argv);
  if (commandLine.kind === 'help') program.print(commandLine.text);
  else if (commandLine.kind === 'version') program.print(`${program.version.gitVersion}\n`);
  else if (commandLine.kind === 'doctor') return (await examine(commandLine, program)) ? 0 : 1;
  else {
    const young = new FittingYoungGeneration();
    await serveUntilStopped(commandLine, program, (options, environment) =>
      startMetricsServer(options, { ...environment, onCycle: (nodes) => young.fit(nodes) }),
    );
  }
  return 0;
}

/** @returns whether no problem was found */
async function examine(command: Doctor, program: Program): Promise<boolean> {
  const { options, doctor } = command;
  const logger = startLog(command, program);
  return await runDoctor(options, doctor, {
    access: await program.openAccess(options.kubeconfig, logger),
    clock: systemClock,
    logger,
    userAgent: `metrics-server-doctor/${program.version.gitVersion}`,
    signal: program.interrupted,
    write: (text) => program.print(text),
  });
}
