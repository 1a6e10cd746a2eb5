import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { ZodError } from 'zod';
import { printable } from '#lib/telemetry/printable.ts';
import { caseSchema } from './case-schema.ts';
import type { RecordedCase } from './recorded-case.ts';

/** Above the length of any file of recorded decisions: 2,454 take 8 MB. */
const MAX_BYTES = 256 * 1024 * 1024;

/** A case and its position in the file. */
export interface LocatedCase {
  readonly recorded: RecordedCase;
  /** As in `line 3`. */
  readonly place: string;
}

/**
 * Reads a file of recorded decisions, gzipped or not.
 *
 * @throws {Error} with the line and the rule
 */
export function readCases(file: string): readonly LocatedCase[] {
  return parseCases(textOf(readFileSync(file)));
}

/** Reads one case per line. @throws {Error} with the line and the rule */
export function parseCases(text: string): readonly LocatedCase[] {
  const cases = text.split('\n').flatMap((line, index) => {
    const place = `line ${index + 1}`;
    return line.trim() === '' ? [] : [{ place, recorded: caseOf(line, place) }];
  });
  if (cases.length === 0) throw new Error('there is no case in it, one a line as JSON');
  return cases;
}

function textOf(bytes: Buffer): string {
  const isGzipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (!isGzipped && bytes.length > MAX_BYTES) throw new Error(`it is longer than ${MAX_BYTES} bytes`);
  try {
    const plain = isGzipped ? gunzipSync(bytes, { maxOutputLength: MAX_BYTES }) : bytes;
    return new TextDecoder('utf-8', { fatal: true }).decode(plain);
  } catch (error) {
    const why = isGzipped ? `cannot be unpacked: ${(error as Error).message}` : 'is no text in UTF-8';
    throw new Error(`it ${why}`, { cause: error });
  }
}

function caseOf(line: string, place: string): RecordedCase {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new Error(`${place} is no JSON, so the file was cut or is another: ${shown(error)}`, {
      cause: error,
    });
  }
  const read = caseSchema.safeParse(value);
  if (read.success) return read.data;
  throw new Error(`${place} is no recorded decision: ${problemsOf(read.error)}`, { cause: read.error });
}

/** JSON's own error quotes the line, which may be long and contain any characters. */
function shown(error: unknown): string {
  const [message = ''] = (error as Error).message.split('\n');
  return printable(message.slice(0, 120));
}

const MAX_PROBLEMS = 3;

function problemsOf({ issues }: ZodError): string {
  const reported = issues
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`);
  return [
    ...reported,
    ...(issues.length > MAX_PROBLEMS ? [`and ${issues.length - MAX_PROBLEMS} more`] : []),
  ].join('; ');
}
