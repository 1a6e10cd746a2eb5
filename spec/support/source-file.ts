import { globSync, readFileSync } from 'node:fs';

/** One TypeScript source of the project, with what the architecture rules check. */
export interface SourceFile {
  /** Relative to the root of the checkout: `lib/time/clock.ts`. */
  readonly path: string;
  /** Module specifiers of its imports and re-exports, types included, as written. */
  readonly specifiers: readonly string[];
  /** Whether it uses the global `process` or imports it. */
  readonly readsProcess: boolean;
  /** Whether it evaluates text as code: `eval`, `Function`, `node:vm`. */
  readonly evaluatesText: boolean;
}

/** Reads every TypeScript source below a folder of the checkout. */
export function readSourceFiles(folder: string): SourceFile[] {
  return globSync(`${folder}/**/*.ts`)
    .sort()
    .map((path) => parseSourceFile(path, readFileSync(path, 'utf8')));
}

/** The paths of TypeScript sources below a folder whose code, comments excluded, matches a pattern; sorted. */
export function filesWith(folder: string, pattern: RegExp): string[] {
  return globSync(`${folder}/**/*.ts`)
    .filter((path) => pattern.test(withoutComments(readFileSync(path, 'utf8'))))
    .sort();
}

// Strings come first, so that a comment-like text in a string is unchanged.
const STRING_OR_COMMENT =
  /('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
const IMPORT_OR_REEXPORT = /(?:^|;)[ \t]*(?:import|export)\b[^;'"`=]*?\bfrom\s*['"]([^'"]+)['"]/gm;
const IMPORT_FOR_EFFECT = /(?:^|;)[ \t]*import\s*['"]([^'"]+)['"]/gm;
const DYNAMIC_OR_TYPE_IMPORT = /\bimport\(\s*['"]([^'"]+)['"]/g;
const GLOBAL_PROCESS =
  /(?<![\w.$#'"`-])process\s*(?:\?\.|\.|\[)|globalThis\.process\b|[=(]\s*process\s*[;,)]/;
const EVALUATION = /\beval\s*\(|\bFunction\s*\(/;

/**
 * Reads a source's imports by pattern: compiled output has no types, and the project's formatting
 * (checked by the linter) leaves few forms of imports.
 */
export function parseSourceFile(path: string, text: string): SourceFile {
  const code = withoutComments(text);
  const specifiers = [IMPORT_OR_REEXPORT, IMPORT_FOR_EFFECT, DYNAMIC_OR_TYPE_IMPORT].flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match) => match[1] ?? ''),
  );
  const readsProcess = GLOBAL_PROCESS.test(code) || specifiers.some((s) => /^(node:)?process$/.test(s));
  const evaluatesText = EVALUATION.test(code) || specifiers.some((s) => /^(node:)?vm$/.test(s));
  return { path, specifiers, readsProcess, evaluatesText };
}

function withoutComments(text: string): string {
  return text.replace(STRING_OR_COMMENT, (_match, literal: string | undefined) => literal ?? '');
}
