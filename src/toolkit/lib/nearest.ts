/**
 * Pure. The name that a mistyped one probably means: it differs in case, in `-`, `_`, `.` and spaces, or by one edit for
 * every three characters, at most two.
 */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const word = plain(typed);
  const most = Math.min(2, Math.floor(word.length / 3));
  for (let edits = 0; edits <= most; edits += 1) {
    const name = names.find((one) => isWithin(edits, word, plain(one)));
    if (name !== undefined) return name;
  }
  return undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_. ]/g, '');
}

/** Whether this many edits make the texts equal: a character added, left out or replaced, or two neighbours swapped. */
function isWithin(edits: number, one: string, other: string): boolean {
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  const [left, right] = [one.slice(same), other.slice(same)];
  if (left === right) return true;
  if (edits === 0) return false;
  const isSwapped = left[0] === right[1] && left[1] === right[0];
  return (
    isWithin(edits - 1, left.slice(1), right) ||
    isWithin(edits - 1, left, right.slice(1)) ||
    isWithin(edits - 1, left.slice(1), right.slice(1)) ||
    (isSwapped && isWithin(edits - 1, left.slice(2), right.slice(2)))
  );
}
