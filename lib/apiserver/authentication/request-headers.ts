/** Reads headers one by one, as they were sent: Node's own object joins those of one name by commas. */
export class RequestHeaders {
  /** Names in small letters. */
  readonly #fields: readonly (readonly [name: string, value: string])[];

  /** @param raw names and values alternately */
  constructor(raw: readonly string[]) {
    const fields: (readonly [string, string])[] = [];
    for (let index = 0; index + 1 < raw.length; index += 2) {
      fields.push([(raw[index] ?? '').toLowerCase(), utf8Of(raw[index + 1] ?? '')]);
    }
    this.#fields = fields;
  }

  /** The first value of the first of several names that has one that is not empty. */
  first(names: readonly string[]): string | undefined {
    for (const name of names) {
      const value = this.#fields.find(([key]) => key === name.toLowerCase())?.[1];
      if (value) return value;
    }
    return undefined;
  }

  /** All values of several names that are not empty, name by name. */
  all(names: readonly string[]): readonly string[] {
    return names.flatMap((name) =>
      this.#fields.filter(([key, value]) => key === name.toLowerCase() && value !== '').map(([, v]) => v),
    );
  }

  /** All headers whose names begin in one of several ways, by the rest of their names, in small letters. */
  *withPrefix(prefixes: readonly string[]): Generator<readonly [rest: string, value: string], void, void> {
    for (const prefix of prefixes) {
      for (const [name, value] of this.#fields) {
        if (name.startsWith(prefix.toLowerCase())) yield [name.slice(prefix.length), value];
      }
    }
  }
}

/** Node reads headers as Latin-1, one character a byte; Kubernetes means UTF-8. */
function utf8Of(value: string): string {
  return /[\x80-\xff]/.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;
}
