import { ApiError } from './status.ts';

/** The form in which a response is wanted: as stored, reduced to metadata, or as rows for a person. */
export type View = 'Object' | 'PartialObjectMetadata' | 'Table';

/** What an Accept header comes down to. */
export interface Negotiated {
  readonly view: View;
  /** `v1` or `v1beta1` of meta.k8s.io; only where a view was asked for. */
  readonly viewVersion: string;
}

const VIEWS: Readonly<Record<string, View>> = {
  PartialObjectMetadata: 'PartialObjectMetadata',
  PartialObjectMetadataList: 'PartialObjectMetadata',
  Table: 'Table',
};

/**
 * Picks the first clause that the simulator can serve; it speaks JSON alone, which every client of Kubernetes
 * takes besides protobuf.
 *
 * @throws ApiError 406 when no clause will do
 */
export function negotiate(accept: string | undefined): Negotiated {
  for (const { type, parameters } of clausesOf(accept ?? '*/*')) {
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    const asked = parameters.get('as');
    if (asked === undefined) return { view: 'Object', viewVersion: 'v1' };
    const view = VIEWS[asked];
    const version = parameters.get('v') ?? '';
    if (view && parameters.get('g') === 'meta.k8s.io' && ['v1', 'v1beta1'].includes(version)) {
      return { view, viewVersion: version };
    }
  }
  throw new ApiError(406, 'NotAcceptable', 'only the following media types are accepted: application/json');
}

/** One media range of an Accept header. */
export interface AcceptClause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The clauses of an Accept header, the most wanted first. */
export function clausesOf(accept: string): readonly AcceptClause[] {
  return accept
    .split(',')
    .map((clause) => {
      const [type = '', ...parameters] = clause.split(';').map((part) => part.trim());
      return {
        type: type.toLowerCase(),
        parameters: new Map(parameters.map((pair) => pair.split('=', 2) as [string, string])),
      };
    })
    .sort((left, right) => quality(right) - quality(left));
}

function quality({ parameters }: AcceptClause): number {
  const q = Number(parameters.get('q') ?? 1);
  return Number.isNaN(q) ? 0 : q;
}
