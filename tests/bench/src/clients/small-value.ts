/** A value of 16 bytes that is never the same twice. */
export function smallValue(number: number): string {
  return `value-${String(number).padStart(10, "0")}`;
}
