import { globSync, readFileSync } from 'node:fs';

/** One TypeScript source of the project, as far as its place among the others is concerned. */
export interface SourceFile {
  /** From the root of the checkout: `lib/time/clock.ts`. */
  readonly path: string;
  /** What it imports or re-exports, types included, as written. */
  readonly specifiers: readonly string[];
  /** Whether it names the global `process` or imports it. */
  readonly readsProcess: boolean;
  /** Whether it makes code of text: `eval`, `Function`, `node:vm`. */
  readonly evaluatesText: boolean;
}

/** Reads every TypeScript source below a folder of the checkout. */
export function readSourceFiles(folder: string): SourceFile[] {
  return globSync(`${folder}/**/*.ts`)
    .sort()
    .map((path) => parseSourceFile(path, readFileSync(path, 'utf8')));
}

// Strings come first so that what looks like a comment inside one is left alone.
const STRING_OR_COMMENT =
  /('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
const IMPORT_OR_REEXPORT = /(?:^|;)[ \t]*(?:import|export)\b[^;'"`=]*?\bfrom\s*['"]([^'"]+)['"]/gm;
const IMPORT_FOR_EFFECT = /(?:^|;)[ \t]*import\s*['"]([^'"]+)['"]/gm;
const DYNAMIC_OR_TYPE_IMPORT = /\bimport\(\s*['"]([^'"]+)['"]/g;
const GLOBAL_PROCESS =
  /(?<![\w.$#'"`-])process\s*(?:\?\.|\.|\[)|globalThis\.process\b|[=(]\s*process\s*[;,)]/;
const EVALUATION = /\beval\s*\(|\bFunction\s*\(/;

/**
 * Reads a source's imports by pattern: types would be gone from compiled output, and the project's formatting
 * (checked by the linter) leaves an import few ways to look.
 */
export function parseSourceFile(path: string, text: string): SourceFile {
  const code = text.replace(STRING_OR_COMMENT, (_match, literal: string | undefined) => literal ?? '');
  const specifiers = [IMPORT_OR_REEXPORT, IMPORT_FOR_EFFECT, DYNAMIC_OR_TYPE_IMPORT].flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match) => match[1] ?? ''),
  );
  const readsProcess = GLOBAL_PROCESS.test(code) || specifiers.some((s) => /^(node:)?process$/.test(s));
  const evaluatesText = EVALUATION.test(code) || specifiers.some((s) => /^(node:)?vm$/.test(s));
  return { path, specifiers, readsProcess, evaluatesText };
}
