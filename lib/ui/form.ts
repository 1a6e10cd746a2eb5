import { getOwn } from '#lib/kubernetes/get-own.ts';
import { type Html, html } from './html.ts';

/** A field of a form; its value is a query parameter. */
export interface Field {
  readonly name: string;
  readonly label: string;
  /** A short explanation. */
  readonly hint?: string;
  readonly placeholder?: string;
  /** Chooses one of these; the first is the default. */
  readonly options?: readonly string[];
  readonly isRequired?: boolean;
}

/** Bounds each value; a field with more is empty. */
const MAX_LENGTH = 1024;
/** Bounds the problems that a page shows. */
const MAX_PROBLEMS = 20;

/** The values of a form, and their problems. */
export class FormValues {
  readonly #query: URLSearchParams;
  readonly #problems = new Map<string, string>();
  readonly #warnings = new Map<string, string>();
  /** Problems of no single field. */
  readonly general: string[] = [];

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  /** Whether anything was entered: an empty form shows no problems. */
  get isEntered(): boolean {
    return this.#query.has('name');
  }

  /** The trimmed value of a field; the empty string where it is absent. */
  text({ name, options }: Field): string {
    const given = this.#query.get(name)?.trim() ?? '';
    if (given.length > MAX_LENGTH) {
      this.report(name, `must be no longer than ${MAX_LENGTH} characters`);
      return '';
    }
    if (options && !options.includes(given)) return options[0] ?? '';
    return given;
  }

  /** The value of a field that must be a whole number; `undefined` where it is absent or is none. */
  whole(field: Field): number | undefined {
    const given = this.text(field);
    if (given === '') return undefined;
    if (/^\d{1,9}$/.test(given)) return Number(given);
    this.report(field.name, 'must be a whole number, 0 or more');
    return undefined;
  }

  /** Reports a problem of a field; the first of each field is shown. */
  report(name: string, problem: string): void {
    if (!this.#problems.has(name) && this.#problems.size < MAX_PROBLEMS) this.#problems.set(name, problem);
  }

  /** Reports what is unusual about a field, and may be intended. */
  warn(name: string, warning: string): void {
    this.#warnings.set(name, warning);
  }

  /** Reports a problem of no single field. */
  reportGeneral(problem: string): void {
    if (this.general.length < MAX_PROBLEMS) this.general.push(problem);
  }

  problemOf(name: string): string | undefined {
    return this.#problems.get(name);
  }

  warningOf(name: string): string | undefined {
    return this.#warnings.get(name);
  }

  get hasProblems(): boolean {
    return this.#problems.size > 0 || this.general.length > 0;
  }
}

/** Renders a field with its value, its hint, and its problem or warning if anything was entered. */
export function renderField(field: Field, values: FormValues): Html {
  const { name, label, hint, placeholder, options, isRequired } = field;
  const value = values.text(field);
  const problem = values.isEntered ? values.problemOf(name) : undefined;
  const warning = values.isEntered && problem === undefined ? values.warningOf(name) : undefined;
  const [id, hintId, problemId] = [`f-${name}`, `h-${name}`, `p-${name}`];
  const report = html`<small id="${problemId}" class="${warning === undefined ? 'refusal' : 'warning'}">${problem ?? warning}</small>`;
  const described = html` aria-describedby="${hintId} ${problemId}"${problem !== undefined && html` aria-invalid="true"`}`;
  const control = options
    ? html`<select id="${id}" name="${name}"${described}>${options.map((option) => html`<option${option === value && html` selected`}>${option}</option>`)}</select>`
    : html`<input id="${id}" name="${name}" value="${value}" placeholder="${placeholder}" maxlength="${MAX_LENGTH}" autocomplete="off" spellcheck="false"${described}>`;
  return html`<div class="form-field"><label for="${id}">${label}${isRequired && html`<span class="faint"> (required)</span>`}</label>
${control}
<small id="${hintId}" class="hint">${hint}</small>${report}</div>
`;
}

/** Reports the problems of a schema, each at the field of its path, such as `spec.maxReplicas`. */
export function reportIssues(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
  values: FormValues,
  fieldsByPath: Readonly<Record<string, string>>,
): void {
  for (const { path, message } of issues) {
    const where = path.map(String).join('.');
    const field = getOwn(fieldsByPath, where);
    if (field) values.report(field, message);
    else values.reportGeneral(`${where}: ${message}`);
  }
}
