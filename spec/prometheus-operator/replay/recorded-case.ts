import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import * as z from 'zod';

const OBJECT = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});

const CONDITION = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
});

const STEP = z.object({
  apply: z.array(OBJECT).default([]),
  delete: z
    .array(z.object({ kind: z.string(), name: z.string(), namespace: z.string().optional() }))
    .default([]),
  result: z.object({
    objects: z
      .record(z.string(), z.looseObject({ data: z.record(z.string(), z.string()).optional() }))
      .default({}),
    status: z
      .record(
        z.string(),
        z.looseObject({ status: z.looseObject({ conditions: z.array(CONDITION).optional() }).optional() }),
      )
      .default({}),
    events: z
      .array(z.looseObject({ regarding: z.string(), reason: z.string(), note: z.string() }))
      .nullish()
      .transform((events) => events ?? []),
  }),
});

const CASE = z.object({
  name: z.string(),
  topic: z.string(),
  flags: z.array(z.string()).default([]),
  crashed: z.unknown().optional(),
  steps: z.array(STEP),
});

/** Objects that were applied to prometheus-operator step by step, and what it wrote. */
export type RecordedCase = Readonly<z.output<typeof CASE>>;
export type RecordedStep = RecordedCase['steps'][number];

/**
 * Reads a file of recorded cases, gzipped or not: one a line as JSON, with long runs of a character as `⟪c×n⟫`.
 *
 * @throws {Error} with the line and the cause
 */
export function readCases(file: string): readonly RecordedCase[] {
  const bytes = readFileSync(file);
  const isGzipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const lines = (isGzipped ? gunzipSync(bytes) : bytes).toString('utf8').split('\n');
  const cases = lines.flatMap((line, index) => (line.trim() === '' ? [] : [readCase(line, index + 1)]));
  if (cases.length === 0) throw new Error('it has no case');
  return cases;
}

function readCase(line: string, number: number): RecordedCase {
  const expanded = line.replace(/⟪(.)×(\d+)⟫/gu, (_, character: string, count: string) =>
    character.repeat(Number(count)),
  );
  try {
    return CASE.parse(JSON.parse(expanded));
  } catch (cause) {
    throw new Error(`line ${number} is no recorded case`, { cause });
  }
}
