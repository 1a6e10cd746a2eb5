/**
 * Whether a route that produces these media types fits an Accept header at all. This is go-restful's test,
 * which comes before Kubernetes' own: it knows neither qualities nor parameters, nor any wildcard but the full one.
 */
export function canProduce(accept: string, mediaTypes: readonly string[]): boolean {
  if (accept === '') return true;
  return mentioned(accept).some((mediaType) => mediaType === '*/*' || mediaTypes.includes(mediaType));
}

/** Whether a route reads bodies of the kind that a Content-Type header names. */
export function canConsume(contentType: string, mediaTypes: readonly string[]): boolean {
  if (contentType === '' || mediaTypes.includes('*/*')) return true;
  return mentioned(contentType).some((mediaType) => mediaTypes.includes(mediaType));
}

function mentioned(header: string): readonly string[] {
  return header.split(',').map((clause) => (clause.split(';', 1)[0] ?? '').trim());
}
