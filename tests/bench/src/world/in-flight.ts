/** Does something for every number from 0 to `count`, with `inFlight` of them under way at a time. */
export async function eachInFlight(
  count: number,
  inFlight: number,
  act: (number: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < count) {
      const number = next;
      next += 1;
      await act(number);
    }
  };
  await Promise.all(Array.from({ length: Math.min(inFlight, count) }, work));
}
