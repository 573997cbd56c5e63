/** A shorter name is often similar to a variable of another program. For example, HOSTS is no misspelled HOST. */
const MIN_SETTING_LENGTH = 7;
/** A known name of this length may have two typing errors, and a shorter one only one. */
const TWO_TYPOS_LENGTH = 10;

/** Returns the known name that a misspelled name most likely stands for, or null. Differences in case are no typing errors. */
export function nearName(name: string, known: ReadonlySet<string>, minLength = MIN_SETTING_LENGTH): string | null {
  if (known.has(name)) {
    return null;
  }
  const meant = name.toUpperCase();
  const candidates = [...known].filter((each) => each.length >= minLength);
  const isNear = (each: string, typos: number) =>
    typos <= (each.length >= TWO_TYPOS_LENGTH ? 2 : 1) && hasTypos(meant, each.toUpperCase(), typos);
  return [0, 1, 2].flatMap((typos) => candidates.filter((each) => isNear(each, typos)))[0] ?? null;
}

/** Returns true if at most this number of typing errors is between the words: a letter more, less or wrong, or two that are swapped. */
function hasTypos(one: string, other: string, typos: number): boolean {
  let same = 0;
  while (same < one.length && one[same] === other[same]) {
    same += 1;
  }
  const [left, right] = [one.slice(same), other.slice(same)];
  if (typos === 0 || left === right) {
    return left === right;
  }
  const after = (ofLeft: number, ofRight: number) => hasTypos(left.slice(ofLeft), right.slice(ofRight), typos - 1);
  const isSwapped = left[0] === right[1] && left[1] === right[0];
  return after(1, 0) || after(0, 1) || after(1, 1) || (isSwapped && after(2, 2));
}
