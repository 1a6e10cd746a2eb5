import { refuse } from '../objects/refusal.ts';

/** Of a Prometheus without `spec.version`. */
const DEFAULT_VERSION = 'v3.7.3';

/** The version of a Prometheus, by which fields of its configuration are chosen. */
export class PrometheusVersion {
  readonly #major: number;
  readonly #minor: number;
  readonly #patch: number;
  readonly #isPrerelease: boolean;

  /** @throws {Refusal} for a text that is no version, and for another major version than 2 and 3 */
  constructor(text = DEFAULT_VERSION) {
    const [, major = '', minor = '0', patch = '0', prerelease] =
      /^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(-[-.0-9A-Za-z]+)?(?:\+[-.0-9A-Za-z]+)?$/.exec(text) ?? [];
    this.#major = Number(major);
    this.#minor = Number(minor);
    this.#patch = Number(patch);
    this.#isPrerelease = prerelease !== undefined;
    if (this.#major !== 2 && this.#major !== 3) refuse(`unsupported Prometheus version "${text}"`);
  }

  /** @param version such as `2.45` or `2.45.1`; a prerelease precedes its release */
  isAtLeast(version: string): boolean {
    const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
    const difference = this.#major - major || this.#minor - minor || this.#patch - patch;
    return difference > 0 || (difference === 0 && !this.#isPrerelease);
  }
}
