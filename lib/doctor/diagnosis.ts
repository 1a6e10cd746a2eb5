import { getOwn } from '#lib/kubernetes/get-own.ts';

/** Something that is wrong, and what to do about it. */
export interface Diagnosis {
  /** A claim; the page about troubleshooting has a section of this title. */
  readonly title: string;
  /** Words in capitals stand for names and addresses of the case. */
  readonly remedy: string;
}

/** What a doctor can find wrong, by the names that programs know it by. */
export type Diagnoses = Readonly<Record<string, Diagnosis>>;

/** The remedy with the names of a case in place of the capitals. */
export function remedyOf({ remedy }: Diagnosis, names: Readonly<Record<string, string>> = {}): string {
  return remedy.replaceAll(/[A-Z]+/g, (word) => getOwn(names, word) ?? word);
}
