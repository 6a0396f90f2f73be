import { visible } from '../toolkit/lib/text.ts';
import { cropped } from '../toolkit/lib/words.ts';

const MAX_LENGTH = 20;

/** The beginning of the name of a bucket, which comes from the service, for a terminal. */
export function shownBucket(name: string): string {
  return visible(cropped(name, MAX_LENGTH));
}
