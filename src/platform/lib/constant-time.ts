/**
 * Whether two texts are equal, in a time that tells nothing of how much of them is. For texts that are hashes: Node's own
 * `timingSafeEqual` takes bytes, and bytes out of a hash are memory beside the heap, at each call of the API (docs/performance-log.md).
 */
export function isEqualInConstantTime(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let index = 0; index < a.length; index += 1) {
    difference |= a.charCodeAt(index) ^ b.charCodeAt(index);
  }
  return difference === 0;
}
