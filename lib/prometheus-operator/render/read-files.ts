import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readBoundedFile } from '#lib/flags/read-bounded-file.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { readYamlDocuments, YamlError } from '#lib/kubernetes/read-yaml.ts';
import { messageOf } from '#lib/telemetry/error-text.ts';

const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Expansions of aliases in a document. */
const MAX_ALIASES = 100;
/** Of all folders. */
const MAX_FILES = 10_000;

/** A document of a file, such as an object of Kubernetes. */
export interface FileObject {
  /** As in `monitors/shop.yaml:12`. */
  readonly place: string;
  readonly value: unknown;
}

/** What cannot be read. */
export interface UnreadableFile {
  readonly place: string;
  readonly reason: string;
}

export interface ReadFiles {
  readonly objects: readonly FileObject[];
  readonly unreadable: readonly UnreadableFile[];
}

/**
 * Reads the documents of files in YAML and JSON, and the items of lists in them. An invalid document does not affect the others.
 *
 * @param paths files, and folders of which the files with the extensions of YAML and JSON are read
 * @throws if a path does not exist
 */
export async function readFiles(paths: readonly string[]): Promise<ReadFiles> {
  const objects: FileObject[] = [];
  const unreadable: UnreadableFile[] = [];
  for (const file of (await Promise.all(paths.map(findFiles))).flat()) {
    try {
      for (const document of readYamlDocuments(await readBoundedFile(file, MAX_FILE_BYTES), {
        maxAliasCount: MAX_ALIASES,
      })) {
        const place = `${file}:${document.line}`;
        try {
          objects.push(...itemsOf(document.read()).map((value) => ({ place, value })));
        } catch (error) {
          if (!(error instanceof YamlError)) throw error;
          unreadable.push({ place, reason: error.message });
        }
      }
    } catch (error) {
      unreadable.push({ place: file, reason: messageOf(error) });
    }
  }
  return { objects, unreadable };
}

async function findFiles(path: string): Promise<readonly string[]> {
  let isFolder: boolean;
  try {
    isFolder = (await stat(path)).isDirectory();
  } catch (cause) {
    throw new Error(`Cannot read ${path}`, { cause });
  }
  if (!isFolder) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => !entry.isDirectory() && /\.(ya?ml|json)$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name));
  if (files.length > MAX_FILES) throw new Error(`Cannot read ${path}: more than ${MAX_FILES} files`);
  return files.sort();
}

/** The items of a list, as `kubectl get -o yaml` prints it, or the object itself; nothing for an empty document. */
function itemsOf(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object') return [value];
  const fields = value as Record<string, unknown>;
  const items = getOwn(fields, 'items');
  return getOwn(fields, 'kind') === 'List' && Array.isArray(items) ? items : [value];
}
