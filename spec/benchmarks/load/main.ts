// Load generator in a process of its own: reads a job as JSON from standard input, and prints its result as JSON.
import { json } from 'node:stream/consumers';
import { generateLoad, type LoadJob } from './generate-load.ts';

try {
  const job = (await json(process.stdin)) as LoadJob;
  console.log(JSON.stringify(await generateLoad(job)));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
