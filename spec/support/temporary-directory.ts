import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory that is removed when it is disposed. */
export class TemporaryDirectory implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(): Promise<TemporaryDirectory> {
    return new TemporaryDirectory(await mkdtemp(join(tmpdir(), 'metrics-pipeline-')));
  }

  /** @returns the path of the file */
  async write(name: string, content: string, options: { readonly mode?: number } = {}): Promise<string> {
    const path = join(this.path, name);
    await writeFile(path, content, options);
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
