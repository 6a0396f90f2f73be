/** A Node that does nothing. */
setInterval(() => undefined, 60_000);
