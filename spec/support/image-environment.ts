import { readFileSync } from 'node:fs';
import { parseDockerfile } from '#spec/acceptance/image/dockerfile.ts';

/** The environment variables that the image sets. */
export function imageEnvironment(): Readonly<Record<string, string>> {
  const instructions = parseDockerfile(readFileSync('Dockerfile', 'utf8')).at(-1)?.instructions ?? [];
  const set = instructions.filter(({ keyword }) => keyword === 'ENV');
  return Object.fromEntries(
    set.flatMap(({ argument }) =>
      argument.split(/\s+/).map((one) => {
        const end = one.indexOf('=');
        return [one.slice(0, end), one.slice(end + 1)];
      }),
    ),
  );
}
