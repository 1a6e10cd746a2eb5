// Generates load in a process of its own: takes a job as JSON, prints its result as JSON.
import { generateLoad, type LoadJob } from './generate-load.ts';

const job = JSON.parse(process.argv[2] ?? '') as LoadJob;
console.log(JSON.stringify(await generateLoad(job)));
