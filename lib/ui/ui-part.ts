/** How many things a part of the page shows, for the overview. */
export interface UiSummary {
  readonly count: number;
  /** Of these, how many are in trouble. */
  readonly troubled: number;
  /** What trouble means here: `not ready`. */
  readonly trouble: string;
  /** Why nothing is done now, or not all of it, though nothing is in trouble: `left to another operator`. */
  readonly waiting?: string | undefined;
}

/** A part of a program's page: what one subsystem has to show. What draws it is loaded when somebody looks. */
export interface UiPart<View extends string = string, Source = unknown> {
  /** In the address: `?view=hpas`. */
  readonly view: View;
  readonly title: string;
  /** What it shows, in a sentence. */
  readonly about: string;
  /** What is drawn. */
  readonly source: Source;
  /** Is asked for each page: a look at each thing at most. */
  summary(): UiSummary;
}

/** What has something to show. */
export interface HasUi<Part extends UiPart = UiPart> {
  readonly ui: readonly Part[];
}
