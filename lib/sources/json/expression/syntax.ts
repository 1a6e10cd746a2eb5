/** What an expression is made of. */
export type Expression =
  | { readonly kind: 'literal'; readonly value: number | string | boolean | null }
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'unary'; readonly operator: '-' | '+' | '!'; readonly operand: Expression }
  | {
      readonly kind: 'binary';
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'call'; readonly name: string; readonly argument: Expression };

/** Where values are: from the root of the document, or from the value that a filter looks at. */
export interface Path {
  readonly from: '$' | '@';
  readonly steps: readonly Step[];
}

/** From values to some of those in them. */
export interface Step {
  /** Whether it begins at all values within as well, however deep. */
  readonly isDeep: boolean;
  readonly selectors: readonly Selector[];
}

/** Which values within a value. */
export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | {
      readonly kind: 'slice';
      readonly start: number | undefined;
      readonly end: number | undefined;
      readonly step: number;
    }
  | { readonly kind: 'all' }
  | { readonly kind: 'filter'; readonly condition: Expression }
  | { readonly kind: 'script'; readonly expression: Expression };
