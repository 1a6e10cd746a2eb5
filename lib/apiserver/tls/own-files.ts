import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, opendir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const OTHERS_WRITE = 0o022;
const OTHERS_READ_OR_WRITE = 0o066;

/** More than any certificate with its authorities has. */
const MAX_BYTES = 1024 * 1024;

/**
 * Reads a file that this program has written in a directory where others may write, too.
 *
 * @returns `undefined` when there is none
 * @throws when it is no file of its own: a symbolic link, another user's, or one that others may write, or, of a secret, read
 */
export async function readOwnFile(
  path: string,
  { isSecret }: { readonly isSecret: boolean },
): Promise<string | undefined> {
  // Without following links, and without waiting for the other end of a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using file = await open(path, flags).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw codeOf(error) === 'ELOOP' ? new Error(`${path} is a symbolic link`, { cause: error }) : error;
  });
  if (!file) return undefined;
  const status = await file.stat();
  const { uid, mode, nlink, size } = status;
  if (!status.isFile()) throw new Error(`${path} is no file`);
  if (uid !== (await ownUserId(path))) throw new Error(`${path} belongs to another user`);
  if (nlink > 1) throw new Error(`${path} has other names, too`);
  if (mode & (isSecret ? OTHERS_READ_OR_WRITE : OTHERS_WRITE)) {
    throw new Error(`${path} may be ${isSecret ? 'read' : 'written'} by others`);
  }
  if (size > MAX_BYTES) throw new Error(`${path} has more than ${MAX_BYTES} bytes`);
  return await file.readFile('utf8');
}

/**
 * Puts a file of our own in a place, whatever is there: a symbolic link is replaced, not followed. Nobody else may read it,
 * and nobody sees half of it.
 */
export async function replaceOwnFile(path: string, content: string): Promise<void> {
  await removeLeftovers(path).catch(() => {}); // they do no harm
  const beside = nameBeside(path);
  try {
    {
      await using file = await open(beside, 'wx', 0o600); // fails where there is anything, even a link
      await file.writeFile(content);
      await file.sync();
    }
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/** A file of a program that was killed while it wrote lies there for good: another replica writes for no longer than this. */
const LEFTOVER_MS = 3_600_000;

/** Others may fill the directory. */
const MAX_ENTRIES = 10_000;

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Removes what was to become this file, and never did: it may hold a key. */
async function removeLeftovers(path: string): Promise<void> {
  const [directory, beginning] = [dirname(path), `${basename(path)}.`];
  let entries = 0;
  for await (const { name } of await opendir(directory)) {
    if (++entries > MAX_ENTRIES) return;
    if (!name.startsWith(beginning) || !UUID.test(name.slice(beginning.length))) continue;
    const leftover = join(directory, name);
    if (Date.now() - (await lstat(leftover)).mtimeMs > LEFTOVER_MS) await rm(leftover, { force: true });
  }
}

/** Whose files are that this program makes. A container's user need not have a name, without which Node does not tell of it. */
async function ownUserId(path: string): Promise<number> {
  const beside = nameBeside(path);
  try {
    await using file = await open(beside, 'wx', 0o600);
    return (await file.stat()).uid;
  } finally {
    await rm(beside, { force: true });
  }
}

function nameBeside(path: string): string {
  return `${path}.${randomUUID()}`;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
