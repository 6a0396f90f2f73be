/** Ends at once. */
export {};
