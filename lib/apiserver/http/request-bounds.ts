/** How many headers a request may have: a user's groups and extra values come one in each. */
export const MAX_HEADERS = 10_000;

/** How long a request's path with its query may be; selectors at their bound fit in, each byte of them encoded. */
export const MAX_URL_BYTES = 128 * 1024;

/** How long the path alone may be: what is denied is asked the API server for, and quoted. Real ones have a few hundred bytes. */
export const MAX_PATH_BYTES = 8 * 1024;
