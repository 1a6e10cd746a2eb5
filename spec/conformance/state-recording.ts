import { readdirSync, readFileSync } from 'node:fs';
import { type Recording, readResponseHead } from './recording.ts';

const FOLDER = 'spec/fixtures/reference';
const NODES = '/apis/metrics.k8s.io/v1beta1/nodes';

/** Request paths of the files in `degraded/`. */
const DEGRADED_PATHS: Readonly<Record<string, string>> = {
  livez: '/livez?verbose',
  readyz: '/readyz?verbose',
  'node-dead': `${NODES}/dead-node`,
  'node-scrape-error': `${NODES}/hollow-plain`,
};

/** Reads an administrator's responses so many seconds after the reference had started. */
export function readStartupRecordings(seconds: number): readonly Recording[] {
  const prefix = `t${seconds}-`;
  return readdirSync(`${FOLDER}/startup`)
    .filter((file) => file.startsWith(prefix))
    .map((file) => {
      const requested = file.slice(prefix.length, -'.txt'.length).replace('_verbose', '?verbose');
      return readStateRecording(`startup/${file}`, `/${requested.replaceAll('_', '/')}`);
    });
}

/** Reads an administrator's responses while some kubelets could not be scraped. */
export function readDegradedRecordings(): readonly Recording[] {
  return Object.entries(DEGRADED_PATHS).map(([name, path]) =>
    readStateRecording(`degraded/${name}.txt`, path),
  );
}

/** In these files, the body follows the headers. */
function readStateRecording(file: string, path: string): Recording {
  const text = readFileSync(`${FOLDER}/${file}`, 'latin1');
  const end = text.indexOf('\r\n\r\n');
  return {
    name: file,
    user: 'admin',
    method: 'GET',
    path,
    isHttp2: false,
    headers: { accept: '*/*', 'user-agent': 'curl/7.88.1' },
    body: undefined,
    response: { ...readResponseHead(text.slice(0, end)), body: Buffer.from(text.slice(end + 4), 'latin1') },
  };
}
