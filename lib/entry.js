// Where the bundle begins. Any Node since 12.17 can parse this file, whatever the files that it loads need.

const MIN_MAJOR = 24; // as `engines` of package.json has it
const version = process.versions.node;

if (parseInt(version, 10) < MIN_MAJOR) {
  process.stderr.write(`needs Node ${MIN_MAJOR} or newer, this is ${version}\n`);
  process.exitCode = 1;
} else {
  import('./run.js');
}
