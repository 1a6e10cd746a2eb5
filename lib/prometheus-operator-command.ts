import { FlagError } from '#lib/flags/parse-flags.ts';
import { render } from '#lib/prometheus-operator/render/render.ts';
import { parseRenderOptions } from '#lib/prometheus-operator/render/render-options.ts';
import type { Program } from './program.ts';

const USAGE = `Usage: prometheus-operator render -f FOLDER [flags]

Prints the configuration that Prometheus objects and monitors in files give, without a cluster.
See prometheus-operator render --help.
`;

/**
 * Runs the subcommand of the first argument.
 *
 * @returns the exit status: 1 if an object is refused
 */
export async function runPrometheusOperator(argv: readonly string[], program: Program): Promise<number> {
  const [word, ...behind] = argv;
  if (word === '--help' || word === '-h') {
    program.print(USAGE);
    return 0;
  }
  if (word === '--version') {
    program.print(`${program.version.gitVersion}\n`);
    return 0;
  }
  if (word !== 'render') throw new FlagError('prometheus-operator has only the subcommand render');
  const commandLine = parseRenderOptions(behind);
  if (commandLine.kind === 'help') {
    program.print(commandLine.text);
    return 0;
  }
  const { output, refusals, notes } = await render(commandLine.options);
  program.print(output);
  for (const line of [...refusals, ...notes]) program.printError(`${line}\n`);
  return refusals.length === 0 ? 0 : 1;
}
