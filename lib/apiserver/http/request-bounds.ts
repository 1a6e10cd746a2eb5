/** How many headers a request may have: a user's groups and extra values come one in each. */
export const MAX_HEADERS = 10_000;

/** How long a request's path with its query may be; selectors at their bound fit in, each byte of them encoded. */
export const MAX_URL_BYTES = 128 * 1024;
