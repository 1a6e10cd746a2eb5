import type { Html } from './html.ts';
import type { PageQuery } from './page-query.ts';

/** How many things a part of the page shows, for the overview. */
export interface UiSummary {
  readonly count: number;
  /** Of these, how many are in trouble. */
  readonly troubled: number;
  /** What trouble means here: `not ready`. */
  readonly trouble: string;
}

/** What has something to show. */
export interface HasUi {
  readonly ui: readonly UiPart[];
}

/** A part of a program's page: what one subsystem has to show. */
export interface UiPart {
  /** In the address: `?view=hpas`. */
  readonly view: string;
  readonly title: string;
  /** What it shows, in a sentence. */
  readonly about: string;
  /** Is asked for each page: a look at each thing at most. */
  summary(): UiSummary;
  /**
   * Draws what a reader wants to see. What draws is loaded when it is first asked for: most programs never are.
   *
   * @throws {StatusError} 404 where there is no such thing
   */
  render(query: PageQuery): Promise<Html>;
}
